"""What a project needs that has only our headers and libraries: archives, and the headers that go with them."""

def _merged(ctx, name, archives):
    library = ctx.actions.declare_file(ctx.label.name + "/lib/lib%s.a" % name)
    script = ctx.actions.declare_file("%s.%s.mri" % (ctx.label.name, name))
    ctx.actions.write(
        script,
        "create %s\n" % library.path +
        "".join(["addlib %s\n" % archive.path for archive in archives]) +
        "save\nend\n",
    )
    ctx.actions.run_shell(
        inputs = archives + [script],
        outputs = [library],
        command = "ar -M <%s" % script.path,
        mnemonic = "MergeArchives",
    )
    return library

def _development_kit_impl(ctx):
    merged = cc_common.merge_cc_infos(cc_infos = [dep[CcInfo] for dep in ctx.attr.deps])
    archives = []
    testing = []
    for linked in merged.linking_context.linker_inputs.to_list():
        for library in linked.libraries:
            archive = library.pic_static_library or library.static_library
            if archive:
                (testing if "/testing" in linked.owner.package else archives).append(archive)
    libraries = [
        _merged(ctx, ctx.attr.library, archives),
        _merged(ctx, ctx.attr.testing, testing),
    ]
    shared = ctx.actions.declare_file(ctx.label.name + "/lib/" + ctx.attr.shared.label.name)
    ctx.actions.symlink(output = shared, target_file = ctx.files.shared[0])
    libraries.append(shared)

    headers = [
        header
        for header in merged.compilation_context.headers.to_list()
        if header.owner.workspace_name == "" and header.is_source
    ]
    copies = []
    for header in headers:
        copy = ctx.actions.declare_file(ctx.label.name + "/include/" + header.path)
        ctx.actions.symlink(output = copy, target_file = header)
        copies.append(copy)
    return [
        DefaultInfo(
            files = depset(libraries + copies),
            runfiles = ctx.runfiles(files = libraries + copies),
        ),
        OutputGroupInfo(headers = depset(copies)),
    ]

# NAME/lib/libLIBRARY.a holds `deps` and all that they depend on, but for what lies in folders called testing and needs
# GoogleTest: that is in NAME/lib/libTESTING.a. NAME/lib/SHARED is the first as a shared library; NAME/include has the headers.
development_kit = rule(
    implementation = _development_kit_impl,
    attrs = {
        "deps": attr.label_list(providers = [CcInfo]),
        "library": attr.string(mandatory = True),
        "shared": attr.label(mandatory = True),
        "testing": attr.string(mandatory = True),
    },
)

def _kit_headers_impl(ctx):
    headers = ctx.attr.kit[OutputGroupInfo].headers
    return [DefaultInfo(files = headers, runfiles = ctx.runfiles(transitive_files = headers))]

# The headers of a development_kit alone. A filegroup would have the kit's runfiles, too, and compile its libraries.
kit_headers = rule(
    implementation = _kit_headers_impl,
    attrs = {"kit": attr.label(mandatory = True)},
)
