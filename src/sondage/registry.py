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
from collections.abc import Mapping
from typing import Any, ClassVar, Self

from sondage.errors import InvalidInput
from sondage.types import is_number, is_whole

_LISTED, _NEAREST = 20, 3
"""Most names of a family that an error lists, and most that it proposes."""


class Registered(ABC):
    """Base of every class that is found by an alias. A subclass with a ``family`` opens one.

    ``family`` names the package, or the single module, in which the parts of the family are.

    >>> class Fruit(Registered, family="orchard"): pass
    >>> class Pear(Fruit): alias = "pear"
    >>> type(Fruit.from_alias("pear")).__name__
    'Pear'
    """

    alias: ClassVar[str] = ""
    aliases: ClassVar[tuple[str, ...]] = ()
    hidden: ClassVar[bool] = False
    """Whether it is found by name but not listed, because it is not for ordinary use."""
    _family: ClassVar[str] = ""
    _known: ClassVar[dict[str, type[Registered]]]
    _families: ClassVar[dict[str, type[Registered]]] = {}

    def __init_subclass__(cls, family: str | None = None, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if family is not None:
            cls._family, cls._known = family, {}
            Registered._families[family] = cls
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
        for module in pkgutil.walk_packages(getattr(package, "__path__", ()), f"{cls._family}."):
            importlib.import_module(module.name)
        listed = {name: kind for name, kind in sorted(cls._known.items()) if not kind.hidden}
        return listed  # type: ignore[return-value]

    @classmethod
    def from_alias(cls, name: str, /, **options: Any) -> Self:
        """The part of this name, made with these options; capitals, hyphens and blanks do not matter."""
        if name not in cls._known:
            cls.catalogue()  # looks through the folder
        if name not in cls._known:
            known = {letters(alias): alias for alias in cls.catalogue()}
            meant = cls.spelled(letters(name), known)
            if meant is None or meant[0] not in cls._known:
                raise InvalidInput(cls._unknown(name, known))
            name, implied = meant
            options = {**implied, **options}
        return cls._made(name, options)

    @classmethod
    def resolved(cls, part: Any, option: str = "", *, optional: bool = True) -> Self | None:
        """A part from its name or itself, as an option takes it; None stays None where it is ``optional``."""
        if isinstance(part, str):
            return cls.from_alias(part)
        if isinstance(part, cls) or (part is None and optional):
            return part
        name = cls.__name__
        kind = f"{'an' if name[0] in 'AEIOU' else 'a'} {name}"
        raise InvalidInput(f"{option or name.lower()}= takes a name or {kind}, not {what_it_is(part)}")

    @classmethod
    def spelled(cls, word: str, known: Mapping[str, str]) -> tuple[str, dict[str, Any]] | None:
        """The alias and options that a name stands for, given only its letters and digits."""
        return (known[word], {}) if word in known else None

    @classmethod
    def spellings(cls, known: Mapping[str, str]) -> Mapping[str, str]:
        """The names to propose, by the letters of every way to write them."""
        return known

    @classmethod
    def advice(cls, word: str, known: Mapping[str, str]) -> str | None:
        """What to say of a name that is well known elsewhere, but not an alias here."""
        return None

    @classmethod
    def _unknown(cls, name: str, known: Mapping[str, str]) -> str:
        """Why there is no such part: with the names nearest to it, and all if they are few."""
        family = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", Registered._families[cls._family].__name__).lower()
        said = cls.advice(letters(name), known)
        if said is None:
            *others, last = ["", *map(repr, _nearest(letters(name), cls.spellings(known)))]
            said = f"did you mean {' or '.join(filter(None, (', '.join(others[1:]), last)))}?" if last else ""
        if len(known) <= _LISTED:
            said += f" known are {', '.join(map(repr, cls.catalogue()))}"
        elif not said:
            where = f"{cls._family}.{Registered._families[cls._family].__name__}"
            said = f"no name resembles it; {where}.catalogue() lists all {len(known)}"
        return f"unknown {family} {name!r}: {said.strip()}"

    @classmethod
    def _made(cls, alias: str, options: dict[str, Any]) -> Self:
        kind = cls._known[alias]
        try:
            return kind(**options)  # type: ignore[return-value]
        except TypeError as error:
            raise InvalidInput(
                f"{alias!r} cannot be made from its name and {options or 'no options'}: {error}; "
                f"make the object itself, {kind.__module__}.{kind.__name__}(...)"
            ) from error


class Named(Registered):
    """Base of every part of a study: found by its alias, and made again from its configuration."""

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

    def require(self, **options: str | tuple[object, ...]) -> None:
        """Refuse options that are outside a range, like ``floor="(0, 1]"``, or none of some choices.

        ``batch="at least 1"`` is for whole numbers, ``strength="above 0"`` for any that are finite.
        """
        for name, wanted in options.items():
            value = getattr(self, name)
            if isinstance(wanted, tuple):
                said = f"{', '.join(map(repr, wanted[:-1]))} or {wanted[-1]!r}, not {value!r}"
                right = value in wanted
            elif wanted.startswith("at least "):
                said = f"a whole number of {wanted}, not {value!r}"
                right = is_whole(value) and value >= int(wanted.removeprefix("at least "))
            elif wanted == "above 0":
                said = f"a number above 0, not {value!r}"
                right = is_number(value) and 0 < value < float("inf")
            elif not is_number(value):
                said, right = f"a number in {wanted}, not {value!r}", False
            else:
                low, high = map(float, wanted[1:-1].split(","))
                said = f"in {wanted}, not {value}"
                right = low <= value <= high and (wanted[0] == "[" or value > low)
                right = right and (wanted[-1] == "]" or value < high)
            if not right:
                raise InvalidInput(f"{name}= must be {said}")


def from_config(config: dict[str, Any]) -> Any:
    """The part that ``Named.config`` wrote down, made again."""
    family, alias = Named._families[config["family"]], config["alias"]
    options = {name: _parts(value) for name, value in config["options"].items()}
    if alias not in family._known:
        family.catalogue()
    if alias not in family._known:  # by its very name: a class of the user's must not come back as another
        raise InvalidInput(family._unknown(alias, {letters(one): one for one in family.catalogue()}))
    return family._made(alias, options)


def what_it_is(value: object) -> str:
    """Words for something given in place of a part; for a class they say to make an object of it.

    >>> what_it_is(5), what_it_is(dict)
    ('5', 'the class dict: make one, dict(...)')
    """
    return (
        f"the class {value.__name__}: make one, {value.__name__}(...)"
        if isinstance(value, type)
        else repr(value)
    )


def letters(name: str) -> str:
    """A name reduced to what identifies it: letters, digits and decimal points; ``@`` is "at".

    >>> letters("F1-Score"), letters("roc_auc"), letters("F0.5 score"), letters("recall@10")
    ('f1score', 'rocauc', 'f0.5score', 'recallat10')
    """
    return re.sub(r"[^\w.]|_", "", name.lower().replace("@", "at"))  # \w: Greek letters tell names apart, too


def _nearest(word: str, known: Mapping[str, str]) -> list[str]:
    """The one name a typing slip away from a word, or a few that are like it, in it or around it."""
    slip = difflib.get_close_matches(word, known, n=1, cutoff=0.9)
    if slip:
        return [known[slip[0]]]
    close = difflib.get_close_matches(word, known, n=2 * _NEAREST)
    inside = [one for one in known if min(len(one), len(word)) > 2 and (one in word or word in one)]
    return list(dict.fromkeys(known[one] for one in close + inside))[:_NEAREST]


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
