"""Programs that ask other programs, each a Go module that pins what it asks."""
