// Package promise says when jobs will have ended, and keeps account of how often that came true.
package promise
