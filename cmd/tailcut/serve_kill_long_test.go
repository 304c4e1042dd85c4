//go:build linux && long

package main

// kills is how often TestServeSurvivesKills kills its server.
const kills = 1000
