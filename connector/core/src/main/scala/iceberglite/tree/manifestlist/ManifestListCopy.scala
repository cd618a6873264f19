package iceberglite.tree.manifestlist

import iceberglite.avro.AvroCodec
import iceberglite.spec.FormatVersion
import iceberglite.spec.IcebergError.Unsupported
import iceberglite.spec.metadata.Snapshot
import iceberglite.tree.{TreeCopy, TreeTable}

/**
 * Writes copies of manifests and manifest lists in which files have other paths. The copies have the table's format
 * version, like manifests that a commit rewrites. The copies of version 4 tables have version 3, because version 4 has
 * no Avro manifests of its own.
 */
final private[manifestlist] class ManifestListCopy(table: TreeTable, copy: TreeCopy) {
  private val version = Seq(table.metadata.formatVersion, FormatVersion.V3).min
  private val codec = AvroCodec.of(table.metadata.properties)

  /** Writes a copy of a manifest. @return its length in bytes */
  def writeManifest(part: ManifestPart): Long = {
    if (part.isColumnar) throw Unsupported(
      s"a copy of the manifest ${part.path} of ${table.name}, which another writer has written as a Parquet file",
      "Copy the table with CREATE TABLE AS SELECT"
    )
    val entries = Manifests.readOwnValues(table.io, part.manifest, table.specs.byId, table.specs.sources)
      .map(entry => entry.copy(file = copy.file(entry)))
    Manifests.write(
      table.io,
      copy.writePath(part.path),
      ManifestHeader(version, part.content, table.schema, part.spec, part.manifest.addedSnapshotId),
      entries,
      codec
    ).length
  }

  /** Writes a copy of a manifest list. @param lengths the lengths of copied manifests, by path */
  def writeList(path: String, snapshot: Snapshot, parts: Vector[ManifestPart], lengths: Map[String, Long]): Unit = {
    val manifests = parts.map { part =>
      // Manifest lists of version 1 may lack counts, which later versions require.
      val complete =
        if (version == FormatVersion.V1 || ManifestCounts.hasCounts(part.manifest)) part.manifest
        else ManifestCounts.withCounts(part.manifest, part.entries(table.io))
      complete.copy(path = copy.referencePath(part.path), length = lengths.getOrElse(part.path, part.length))
    }
    ManifestLists.writeCopy(table.io, copy.writePath(path), version, snapshot, manifests, codec)
  }
}
