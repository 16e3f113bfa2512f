"""Bradley-Terry and its extension to ties by Davidson: fits, bootstraps and sandwich intervals."""
