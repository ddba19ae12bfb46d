"""The drop-in libraries: doors with C names and symbol versions, in front of one core per process."""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")
load("@rules_cc//cc:defs.bzl", "cc_binary")

def _headers_only_impl(ctx):
    merged = cc_common.merge_cc_infos(cc_infos = [dep[CcInfo] for dep in ctx.attr.deps])
    return [CcInfo(compilation_context = merged.compilation_context)]

# The headers of `deps` without their code: a door is compiled against the core's interface and finds
# the code in libanyrdma.so.
headers_only = rule(
    implementation = _headers_only_impl,
    attrs = {"deps": attr.label_list(providers = [CcInfo])},
)

def _shared(flag):
    """-lNAME for -l:libNAME.a: an archive need not be position-independent."""
    return "-l" + flag[len("-l:lib"):-len(".a")] if flag.startswith("-l:lib") and flag.endswith(".a") else flag

def _whole_impl(ctx):
    toolchain = find_cpp_toolchain(ctx)
    features = cc_common.configure_features(ctx = ctx, cc_toolchain = toolchain)
    merged = cc_common.merge_cc_infos(cc_infos = [dep[CcInfo] for dep in ctx.attr.deps])
    inputs = []
    for linked in merged.linking_context.linker_inputs.to_list():
        libraries = [
            cc_common.create_library_to_link(
                actions = ctx.actions,
                alwayslink = True,
                cc_toolchain = toolchain,
                feature_configuration = features,
                pic_static_library = library.pic_static_library,
                static_library = library.static_library,
            )
            for library in linked.libraries
        ]
        inputs.append(cc_common.create_linker_input(
            additional_inputs = depset(linked.additional_inputs),
            libraries = depset(libraries),
            owner = linked.owner,
            user_link_flags = depset([_shared(flag) for flag in linked.user_link_flags]),
        ))
    return [CcInfo(
        compilation_context = merged.compilation_context,
        linking_context = cc_common.create_linking_context(linker_inputs = depset(inputs)),
    )]

# `deps` and all that they depend on, to be linked in whole: nobody inside a shared library asks for
# what only its users need.
whole = rule(
    implementation = _whole_impl,
    attrs = {
        "deps": attr.label_list(providers = [CcInfo]),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)

def shared_library(name, deps, version_script, carried = "../carried", linker = None, needs = [], **kwargs):
    """A shared library whose file name and soname are `name`.

    Args:
      name: the file name.
      deps: libraries that are linked in whole.
      version_script: what it exports, under which versions.
      carried: where, seen from the library, a tarball has what Debian's package depends on (packaging/package).
      linker: another than Bazel's choice, gold: that exports what the standard library instantiates, whatever a script
        for C++ says; bfd does not, but loses a function's older symbol versions.
      needs: labels of other shared_library targets that lie in the same directory at run time.
      **kwargs: passed on.
    """
    whole(
        name = name + "_code",
        deps = deps,
    )
    linkopts = [
        "-Wl,-z,nodelete",  # a program may dlclose us while threads of ours still run
        "-Wl,--as-needed",
        "-Wl,-soname," + name,
        "-Wl,--version-script=$(location %s)" % version_script,
        "-Wl,-Bsymbolic",
        "-Wl,-z,defs",
        "-Wl,-z,now",
        "-Wl,-z,nodelete",  # a program may dlclose us while threads of ours still run
        "-Wl,-rpath,$$ORIGIN",
        "-Wl,-rpath,$$ORIGIN/" + carried,
    ]
    inputs = [version_script]
    if linker:
        linkopts.append("-fuse-ld=" + linker)
    for library in needs:
        linkopts.append("$(location %s)" % library)
        inputs.append(library)
    cc_binary(
        name = name,
        additional_linker_inputs = inputs,
        linkopts = linkopts,
        linkshared = True,
        linkstatic = True,
        deps = [name + "_code"],
        **kwargs
    )

def other_name(name, library, **kwargs):
    """A shared library without code, by whose name programs open `library` themselves.

    Not a copy, which would be a second core in the process; not a link, which copying makes a copy.

    Args:
      name: the file name.
      library: label of the shared_library, which lies in the same directory at run time.
      **kwargs: passed on.
    """
    cc_binary(
        name = name,
        additional_linker_inputs = [library],
        linkopts = [
            "-Wl,--no-as-needed",
            "-Wl,-soname," + name,
            "-Wl,-rpath,$$ORIGIN",
            "$(location %s)" % library,
        ],
        linkshared = True,
        linkstatic = True,
        **kwargs
    )
