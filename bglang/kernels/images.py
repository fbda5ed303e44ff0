"""Object code in the store."""

import json
from collections.abc import Callable

from bglang.kernels.machine import machine_identity
from bglang.kernels.native import Image, LinkError, Native
from bglang.store import Store, content_key, default_store


def pack_image(image: Image) -> bytes:
    head = {"symbols": dict(image.symbols), "sizes": [len(blob) for blob in image.objects]}
    return json.dumps(head).encode() + b"\n" + b"".join(image.objects)


def unpack_image(payload: bytes) -> Image:
    line, _, code = payload.partition(b"\n")
    head = json.loads(line)
    objects, at = [], 0
    for size in head["sizes"]:
        objects.append(code[at : at + size])
        at += size
    return Image(tuple(objects), head["symbols"])


def get_native(text: str, build: Callable[[], Image], store: Store | None = None) -> Native:
    """Code that is kept under the content `text`: loaded if the store has it, else built, kept and loaded.

    `text` must say everything that `build` depends on, except the machine."""
    store = store or default_store()
    key = content_key("native", text, machine_identity())
    payload = store.read(key)
    if payload is not None:
        try:
            return Native([unpack_image(payload)])
        except LinkError:
            pass  # intact but not for this process: build it again
    image = build()
    native = Native([image])
    store.write(key, pack_image(image))
    return native
