"""The client of a Berth server: publish apps, have them built, and call many models with one key.

    from berth_sdk import Berth

    berth = Berth("http://localhost:3000", key)
    berth.agent.publish_app(html="<!doctype html><title>Reef</title>")

`berth_sdk.agent_types` and `berth_sdk.gateway_types` have the types of fields and responses.
"""

from .asynchronous import AsyncCall
from .call import Event, Page
from .client import AsyncBerth, Berth
from .encode import Upload
from .error import BerthError
from .version import VERSION as __version__

__all__ = [
    "AsyncBerth",
    "AsyncCall",
    "Berth",
    "BerthError",
    "Event",
    "Page",
    "Upload",
    "__version__",
]
