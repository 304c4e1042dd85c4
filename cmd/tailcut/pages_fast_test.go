//go:build !long

package main

const slowPages = false // blocks that are marked slow are not run
