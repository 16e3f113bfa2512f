"""Threads of tests that use the database and end, or serve on, without keeping a connection."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from django.db import connection

Given = ParamSpec("Given")
Result = TypeVar("Result")


def releasing(function: Callable[Given, Result]) -> Callable[Given, Result]:
    """The function, which gives the connection of its thread back when it is done."""

    @wraps(function)
    def released(*args: Given.args, **kwargs: Given.kwargs) -> Result:
        try:
            return function(*args, **kwargs)
        finally:
            connection.close()

    return released
