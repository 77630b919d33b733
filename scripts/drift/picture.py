"""Draws a picture of one version of the reference SDK: what a client or a server of ours can notice of it.

    python3 picture.py WHEEL             prints the picture as JSON
    python3 picture.py --uses FILE...    prints the attribute names that Python programs use

Reads the sources inside the wheel; imports nothing from it and needs only the standard library.
"""

import ast
import json
import re
import sys
import zipfile

PACKAGE = "tinker/"
HTTP_VERBS = {"get", "post", "put", "patch", "delete"}
FLAG_MODELS = ("ClientConfigResponse", "ClientDynamicConfigResponse")


def main() -> None:
    arguments = sys.argv[1:]
    if arguments[:1] == ["--uses"]:
        result = sorted({name for path in arguments[1:] for name in used_attributes(path)})
    else:
        result = picture_of(arguments[0])
    json.dump(result, sys.stdout, indent=2, sort_keys=True, ensure_ascii=False)
    print()


def picture_of(wheel: str) -> dict:
    with zipfile.ZipFile(wheel) as archive:
        modules = {
            name[len(PACKAGE):]: ast.parse(archive.read(name))
            for name in sorted(archive.namelist())
            if name.startswith(PACKAGE) and name.endswith(".py") and not name.endswith("_test.py")
        }
    models, aliases = models_of(modules)
    return {
        "aliases": aliases,
        "commands": commands_of(modules),
        "endpoints": endpoints_of(modules),
        "environment": environment_of(modules),
        "exports": exports_of(modules["__init__.py"]),
        "flags": {name: models.pop(name) for name in FLAG_MODELS if name in models},
        "models": models,
        "protobuf": protobuf_of(modules),
        "signatures": signatures_of(modules),
    }


# Endpoints: every call of an HTTP verb whose first argument is a path of the API.


def endpoints_of(modules: dict) -> list:
    nodes = (node for tree in modules.values() for node in ast.walk(tree))
    return sorted({endpoint for node in nodes if (endpoint := endpoint_in(node)) is not None})


def endpoint_in(node: ast.AST) -> str | None:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    arguments = list(node.args)
    verb = node.func.attr.lstrip("_")
    if verb == "request" and len(arguments) > 1 and isinstance(arguments[0], ast.Constant):
        verb = str(arguments.pop(0).value).lower()
    if verb not in HTTP_VERBS or not arguments:
        return None
    path = path_in(arguments[0])
    return f"{verb.upper()} {path}" if path is not None and path.startswith("/api/") else None


def path_in(node: ast.AST) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if not isinstance(node, ast.JoinedStr):
        return None
    return "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)


# Models: the annotated fields of each class below types/, and named unions and literals.


def models_of(modules: dict) -> tuple:
    models: dict = {}
    aliases: dict = {}
    for name, tree in modules.items():
        if not name.startswith("types/"):
            continue
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                fields = {
                    item.target.id: field_text(item)
                    for item in node.body
                    if isinstance(item, ast.AnnAssign)
                    and isinstance(item.target, ast.Name)
                    and not item.target.id.startswith("_")
                    and not ast.unparse(item.annotation).startswith("ClassVar")
                }
                bases = [ast.unparse(base) for base in node.bases]
                models.setdefault(node.name, {"bases": bases, "fields": {}})["fields"].update(fields)
            alias = alias_in(node)
            if alias is not None:
                aliases[alias[0]] = alias[1]
    return models, aliases


def field_text(item: ast.AnnAssign) -> str:
    annotation = ast.unparse(item.annotation)
    return annotation if item.value is None else f"{annotation} = {ast.unparse(item.value)}"


def alias_in(node: ast.stmt) -> tuple | None:
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
        name = node.target.id
    elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        name = node.targets[0].id
    else:
        return None
    return (name, ast.unparse(node.value)) if re.match(r"[A-Z][a-z]", name) else None


# Public signatures, exports, environment variables, commands.


def signatures_of(modules: dict) -> dict:
    found: dict = {}
    for name, tree in modules.items():
        if not name.startswith("lib/public_interfaces/"):
            continue
        for owner in tree.body:
            if not isinstance(owner, ast.ClassDef) or owner.name.startswith("_"):
                continue
            for method in owner.body:
                is_method = isinstance(method, (ast.FunctionDef, ast.AsyncFunctionDef))
                if is_method and (method.name == "__init__" or not method.name.startswith("_")):
                    found[f"{owner.name}.{method.name}"] = parameters_of(method)
    return found


def parameters_of(method: ast.FunctionDef) -> str:
    arguments = method.args
    for argument in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]:
        argument.annotation = None
    for argument in (arguments.vararg, arguments.kwarg):
        if argument is not None:
            argument.annotation = None
    return f"({re.sub(r'^(self|cls)(, )?', '', ast.unparse(arguments))})"


def exports_of(tree: ast.Module) -> list:
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "__all__":
            return sorted(ast.literal_eval(node.value))
    return []


def environment_of(modules: dict) -> list:
    names = set()
    for tree in modules.values():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("os.environ.get", "os.getenv") and node.args:
                if isinstance(node.args[0], ast.Constant):
                    names.add(node.args[0].value)
    return sorted(names)


def commands_of(modules: dict) -> dict:
    found: dict = {}
    for name, tree in modules.items():
        if not name.startswith("cli/commands/"):
            continue
        group = name.removeprefix("cli/commands/").removesuffix(".py")
        for function in ast.walk(tree):
            if not isinstance(function, ast.FunctionDef):
                continue
            decorators = [call for call in function.decorator_list if isinstance(call, ast.Call)]
            command = next((call for call in decorators if ast.unparse(call.func).endswith(".command")), None)
            if command is None:
                continue
            named = [*command.args, *[keyword.value for keyword in command.keywords if keyword.arg == "name"]]
            title = ast.literal_eval(named[0]) if named else function.name.replace("_", "-")
            found[f"{group} {title}"] = [text for call in decorators for text in parameters_in(call)]
    return found


def parameters_in(call: ast.Call) -> list:
    if not ast.unparse(call.func).endswith((".option", ".argument")):
        return []
    return [argument.value for argument in call.args if isinstance(argument, ast.Constant) and isinstance(argument.value, str)]


# Protobuf: the serialized descriptor inside the generated module, by the wire format of descriptor.proto.

FIELD_TYPES = {
    1: "double", 2: "float", 3: "int64", 4: "uint64", 5: "int32", 6: "fixed64", 7: "fixed32", 8: "bool", 9: "string",
    12: "bytes", 13: "uint32", 15: "sfixed32", 16: "sfixed64", 17: "sint32", 18: "sint64",
}


def protobuf_of(modules: dict) -> dict:
    messages: dict = {}
    for name, tree in modules.items():
        if not name.endswith("_pb2.py"):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("AddSerializedFile"):
                file = fields_of(ast.literal_eval(node.args[0]))
                for message in file.get(4, []):
                    describe_message(message, "", messages)
                for enum in file.get(5, []):
                    describe_enum(enum, "", messages)
    return messages


def describe_message(data: bytes, prefix: str, into: dict) -> None:
    message = fields_of(data)
    name = prefix + text(message[1])
    oneofs = [text(fields_of(item)[1]) for item in message.get(8, [])]
    into[name] = {}
    for item in message.get(2, []):
        field = fields_of(item)
        kind = FIELD_TYPES.get(field[5][0]) or text(field[6]).rsplit(".", 1)[-1]
        label = {2: "required ", 3: "repeated "}.get(field[4][0], "")
        if 17 in field:
            label = "optional "
        elif 9 in field:
            label = f"oneof {oneofs[field[9][0]]} "
        into[name][str(field[3][0])] = f"{label}{kind} {text(field[1])}"
    for nested in message.get(3, []):
        describe_message(nested, f"{name}.", into)
    for enum in message.get(4, []):
        describe_enum(enum, f"{name}.", into)


def describe_enum(data: bytes, prefix: str, into: dict) -> None:
    enum = fields_of(data)
    values = [fields_of(value) for value in enum.get(2, [])]
    into[prefix + text(enum[1])] = {str(value.get(2, [0])[0]): text(value[1]) for value in values}


def text(values: list) -> str:
    return values[0].decode()


def fields_of(data: bytes) -> dict:
    found: dict = {}
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 2:
            size, at = varint(data, at)
            value, at = data[at : at + size], at + size
        else:
            raise ValueError(f"unexpected wire type {key & 7} in a descriptor")
        found.setdefault(key >> 3, []).append(value)
    return found


def varint(data: bytes, at: int) -> tuple:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def used_attributes(path: str) -> set:
    with open(path, encoding="utf-8") as file:
        return {node.attr for node in ast.walk(ast.parse(file.read())) if isinstance(node, ast.Attribute)}


main()
