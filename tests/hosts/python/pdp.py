"""A policy decision point in Python: the component in wasmtime.

An instance is for one thread at a time. A call that takes longer than the deadline ends with an error, and
so does one that wants more memory; the instance is not to be used after that.
"""

import base64
import threading
import weakref

from wasmtime import Config, Engine, Store
from wasmtime.component import Component, Linker, Record

INTERFACE = "wardgate:pdp/decisions@0.4.0"
TICK = 0.05


class Refused(Exception):
    """A bundle or a request was refused. It never means permission."""

    def __init__(self, error):
        super().__init__(error.message)
        self.code = error.code


class Code:
    """The component, compiled once for the process."""

    def __init__(self, wasm):
        config = Config()
        config.epoch_interruption = True
        self.engine = Engine(config)
        self.component = Component(self.engine, wasm)
        threading.Thread(target=_tick, args=(weakref.ref(self),), daemon=True).start()


class Pdp:
    """One opened bundle."""

    def __init__(self, code, bundle, trust, now=None, min_revision=0, seconds_per_call=1.0, memory=256 << 20):
        self._code = code
        self._ticks = int(seconds_per_call / TICK) + 1
        self._store = Store(code.engine)
        self._store.set_limits(memory_size=memory)
        self._store.set_epoch_deadline(self._ticks)
        self._instance = Linker(code.engine).instantiate(self._store, code.component)
        interface = self._instance.get_export_index(self._store, INTERFACE)
        self._functions = {name: self._function(interface, name) for name in FUNCTIONS}
        terms = _record({"trust": trust, "name": None, "max-bytes": None, "decides-after-expiry": False})
        self._pdp = self._call("[static]pdp.open", bundle, terms, _moment(now, min_revision))

    def reload(self, bundle, now=None, min_revision=0):
        """Puts another bundle in the place of this one, which stays if the other is refused."""
        self._call("[method]pdp.reload", self._pdp, bundle, _moment(now, min_revision))

    def is_allowed(self, request, seconds, nanoseconds=0):
        """Decides one action: request is JSON text."""
        return self._call("[method]pdp.is-allowed", self._pdp, request, _datetime(seconds, nanoseconds))

    def filter(self, request, seconds, nanoseconds=0):
        """Decides one action on several resources, and returns the indices of the allowed ones."""
        return self._call("[method]pdp.filter", self._pdp, request, _datetime(seconds, nanoseconds))

    def decision_bytes(self, request, seconds, nanoseconds=0):
        """Decides several actions, and returns the decision as canonical JSON."""
        return bytes(self._call("[method]pdp.decision-bytes", self._pdp, request, _datetime(seconds, nanoseconds)))

    def authzen_evaluate(self, request, seconds, nanoseconds=0):
        """Answers an AuthZEN evaluation request with its response, both JSON text."""
        return self._call("[method]pdp.authzen-evaluate", self._pdp, request, _datetime(seconds, nanoseconds))

    def _function(self, interface, name):
        index = self._instance.get_export_index(self._store, name, interface)
        return self._instance.get_func(self._store, index)

    def _call(self, name, *arguments):
        self._store.set_epoch_deadline(self._ticks)
        outcome = self._functions[name](self._store, *arguments)
        # An error is the one record that these calls return.
        if isinstance(outcome, Record):
            raise Refused(outcome)
        return outcome


def signed_by(*keys, at_least=1):
    """Trust in public keys, each a JWK as `wardgate keys generate` writes it."""
    return _record({"keys": [_key(key) for key in keys], "at-least": at_least, "required": []})


def _key(jwk):
    level = jwk["alg"].lower().replace("dsa-", "dsa")
    public = base64.urlsafe_b64decode(jwk["pub"] + "==")
    identity = jwk["kid"].encode() if "kid" in jwk else None
    return _record({"id": identity, "level": level, "public-key": public})


UNSIGNED = None

FUNCTIONS = [
    "[static]pdp.open",
    "[method]pdp.reload",
    "[method]pdp.is-allowed",
    "[method]pdp.filter",
    "[method]pdp.decision-bytes",
    "[method]pdp.authzen-evaluate",
]


def _tick(code):
    """Moves the clock of the calls on, as long as the code is in use."""
    waiting = threading.Event()
    while not waiting.wait(TICK):
        alive = code()
        if alive is None:
            return
        alive.engine.increment_epoch()
        del alive


def _moment(now, min_revision):
    return _record({"now": now, "min-revision": min_revision})


def _datetime(seconds, nanoseconds):
    return _record({"seconds": seconds, "nanoseconds": nanoseconds})


def _record(members):
    record = Record()
    for name, value in members.items():
        setattr(record, name, value)
    return record
