"""What a project needs that has only our headers and libraries: one archive, and the headers that go with it."""

def _development_kit_impl(ctx):
    merged = cc_common.merge_cc_infos(cc_infos = [dep[CcInfo] for dep in ctx.attr.deps])
    archives = []
    for linked in merged.linking_context.linker_inputs.to_list():
        for library in linked.libraries:
            archive = library.pic_static_library or library.static_library
            if archive:
                archives.append(archive)
    library = ctx.actions.declare_file(ctx.label.name + "/lib/lib%s.a" % ctx.attr.library)
    script = ctx.actions.declare_file(ctx.label.name + ".mri")
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
    return [DefaultInfo(
        files = depset([library] + copies),
        runfiles = ctx.runfiles(files = [library] + copies),
    )]

# NAME/lib/libLIBRARY.a holds `deps` and all that they depend on; NAME/include their headers.
development_kit = rule(
    implementation = _development_kit_impl,
    attrs = {
        "deps": attr.label_list(providers = [CcInfo]),
        "library": attr.string(mandatory = True),
    },
)
