"""What configures trainc as a function of kustomize and kpt; it stands among the files, and is nothing to compile."""

API_VERSION = "trainc.dev/v1alpha1"
BUILD, VALIDATE = "build", "validate"
COMMANDS = {"Build": BUILD, "Validate": VALIDATE}  # by the kind that asks for it


def is_function_config(api_version: object, kind: object) -> bool:
    """Whether an object of that version and kind configures `trainc fn`."""
    return api_version == API_VERSION and kind in COMMANDS
