"""MiniClusters of the Flux Operator."""
