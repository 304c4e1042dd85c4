//go:build long

package main

const slowPages = true
