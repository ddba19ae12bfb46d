"""What a workspace needs of anyrdma: in its WORKSPACE, behind local_repository or http_archive with the name anyrdma,

load("@anyrdma//:deps.bzl", "anyrdma_dependencies")
anyrdma_dependencies()

Nothing is downloaded: what is not here comes from Debian's packages.
"""

_RULES = {
    "platforms": "/usr/share/bazel/platforms",
    "rules_java": "/usr/share/bazel/rules/java",
    "rules_proto": "/usr/share/bazel/rules/proto",
}

# Debian's bazel-rules-cc does not load under Debian's Bazel 4.2: a shim over the native rules. And every test rule of
# Bazel 4.2 asks for remote_coverage_tools, even when no coverage is wanted.
_SHIMS = ["remote_coverage_tools", "rules_cc"]

def _shim_impl(ctx):
    folder = ctx.path(Label("//third_party/" + ctx.attr.folder + ":WORKSPACE")).dirname
    for entry in folder.readdir():
        ctx.symlink(entry, entry.basename)

_shim = repository_rule(
    implementation = _shim_impl,
    attrs = {"folder": attr.string(mandatory = True)},
    local = True,
)

def anyrdma_dependencies():
    """Those of them that the workspace does not have already by these names."""
    for name, path in _RULES.items():
        if not native.existing_rule(name):
            native.local_repository(
                name = name,
                path = path,
            )
    for name in _SHIMS:
        if not native.existing_rule(name):
            _shim(
                name = name,
                folder = name,
            )
