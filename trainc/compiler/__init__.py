"""The compiler: files in, manifests out, and findings; `pipeline` joins its stages."""
