"""Names for parts: a class with an ``alias`` is found by it, wherever its file lies.

Dropping a file into a folder of the package (``measures/``, ``designs/``, ...) is enough: the folder
is scanned the first time a name is looked up. A class defined in a user's own module registers itself
when that module is imported.
"""

from __future__ import annotations

import dataclasses
import difflib
import importlib
import pkgutil
import re
from abc import ABC
from typing import Any, ClassVar, Self

from sondage.errors import InvalidInput


class Named(ABC):
    """Base of every part that has aliases. A direct subclass opens a family of its own.

    ``family`` names the package, or the single module, in which the parts of the family are.

    >>> class Fruit(Named, family="orchard"): pass
    >>> class Pear(Fruit): alias = "pear"
    >>> type(Fruit.from_alias("pear")).__name__
    'Pear'
    """

    alias: ClassVar[str] = ""
    aliases: ClassVar[tuple[str, ...]] = ()
    hidden: ClassVar[bool] = False
    """Whether it is found by its name but not listed, because it is not for ordinary use."""
    _family: ClassVar[str] = ""
    _known: ClassVar[dict[str, type[Named]]]
    _families: ClassVar[dict[str, type[Named]]] = {}

    def __init_subclass__(cls, family: str | None = None, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if family is not None:
            cls._family, cls._known = family, {}
            Named._families[family] = cls
        for name in (cls.__dict__.get("alias", ""), *cls.__dict__.get("aliases", ())):
            if name:
                other = cls._known.get(name, cls)
                if (other.__module__, other.__qualname__) != (cls.__module__, cls.__qualname__):
                    raise InvalidInput(f"the alias {name!r} of {cls.__qualname__} is taken by {other}")
                cls._known[name] = cls

    @classmethod
    def catalogue(cls) -> dict[str, type[Self]]:
        """Every alias of the family that is not hidden, after a look through its folder."""
        package = importlib.import_module(cls._family)
        for module in pkgutil.iter_modules(getattr(package, "__path__", ())):
            importlib.import_module(f"{cls._family}.{module.name}")
        listed = {name: kind for name, kind in sorted(cls._known.items()) if not kind.hidden}
        return listed  # type: ignore[return-value]

    @classmethod
    def from_alias(cls, name: str, /, **options: Any) -> Self:
        """The part of this name, made with these options."""
        if name not in cls._known:
            cls.catalogue()  # looks through the folder
        kind = cls._known.get(name)
        if kind is None:
            family = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", Named._families[cls._family].__name__).lower()
            # Scikit-learn's functions end in _score where its scorers, and our measures, do not.
            plain = name.lower().removesuffix("_score")
            near = (
                [plain]
                if plain in cls.catalogue()
                else difflib.get_close_matches(plain, cls.catalogue(), n=1)
            )
            hint = f"did you mean {near[0]!r}? " if near else ""
            raise InvalidInput(
                f"unknown {family} {name!r}: {hint}known are {', '.join(map(repr, cls.catalogue()))}"
            )
        try:
            return kind(**options)  # type: ignore[return-value]
        except TypeError as error:
            raise InvalidInput(
                f"{name!r} cannot be made from its name and {options or 'no options'}: {error}; "
                f"make the object itself, {kind.__module__}.{kind.__name__}(...)"
            ) from error

    def config(self) -> dict[str, Any]:
        """What is needed to make this part again: alias and options, as plain JSON values."""
        try:
            fields = dataclasses.fields(self)  # type: ignore[arg-type]
        except TypeError:
            raise InvalidInput(
                f"{type(self).__name__} must be a dataclass, whose fields are its options: put "
                "@dataclass(frozen=True) above the class"
            ) from None
        options = {field.name: _plain(getattr(self, field.name)) for field in fields}
        # A subclass without an alias of its own must not come back as its parent.
        mine = self._known.get(self.alias) is type(self)
        alias = self.alias if mine else type(self).__qualname__
        return {"family": self._family, "alias": alias, "options": options}


def from_config(config: dict[str, Any]) -> Any:
    """The inverse of ``Named.config``."""
    family = Named._families[config["family"]]
    options = {name: _parts(value) for name, value in config["options"].items()}
    return family.from_alias(config["alias"], **options)


def _plain(value: Any) -> Any:
    if isinstance(value, Named):
        return value.config()
    if isinstance(value, (tuple, list)):
        return [_plain(one) for one in value]
    if isinstance(value, (str, int, float, bool, type(None))):
        return value
    if hasattr(value, "item") and getattr(value, "ndim", 0) == 0:
        return value.item()
    return {"code": getattr(value, "__qualname__", repr(value))}


def _parts(value: Any) -> Any:
    if isinstance(value, dict) and "alias" in value:
        return from_config(value)
    if isinstance(value, dict) and "code" in value:
        raise InvalidInput(
            f"the part was made with Python code ({value['code']}) that a journal cannot hold: "
            "pass the object itself when loading"
        )
    if isinstance(value, list):
        return tuple(_parts(one) for one in value)
    return value
