"""A local Tinker server as a pytest fixture."""

from .process import ServerProcess
from .server import RouteScript, TestkitError, TinkexServer, VerificationError

__all__ = ["RouteScript", "ServerProcess", "TestkitError", "TinkexServer", "VerificationError"]
