package iceberglite.maintenance

import iceberglite.spec.IcebergError.{InvalidArgument, NotFound, Unsupported}
import iceberglite.spec.{FormatVersion, ObjectKind}
import iceberglite.spec.file.ManifestContent
import iceberglite.spec.metadata.{Encryption, Snapshot, SnapshotRef, TableMetadata}
import iceberglite.spec.property.{CheckConstraint, TableProperty}
import iceberglite.spec.schema.GeneratedColumn
import iceberglite.spec.table.TableClone
import iceberglite.storage.{FileIO, StoragePath}
import iceberglite.table.{StagedTable, Table, TableCreation, UsedDirectories}
import iceberglite.tree.{FilePart, MetadataTree, TreeTable}

/**
 * Options of a clone.
 *
 * @param snapshotId the snapshot to clone
 * @param ref the branch or tag to clone, if `snapshotId` is absent; if both are absent, the current snapshot is cloned
 * @param location the location of the new table; by default, the catalog of the new table determines it
 * @param properties properties of the new table in addition to those of the source
 */
final case class CloneOptions(
    snapshotId: Option[Long] = None,
    ref: Option[String] = None,
    location: Option[String] = None,
    properties: Map[String, String] = Map.empty
)

/**
 * The result of a clone.
 *
 * @param table the new table
 * @param snapshot the snapshot of the new table; absent if the source has no snapshots
 */
final case class CloneResult(table: Table, snapshot: Option[Snapshot], dataFiles: Long, deleteFiles: Long)

/**
 * Creates a table that reads the files of another table's snapshot, without copying files. The new table writes its own
 * files to its own location, and its property `gc.enabled` is false. The source has no record of the clone. If files of
 * the snapshot are deleted through the source, for example by snapshot expiration, the clone can no longer read them.
 */
object CloneTable {

  /**
   * Creates the clone.
   *
   * @param stage begins to create the new table in its catalog; fails if the table exists
   * @param drop drops the new table without deleting files. It is called if the catalog created a table that differs
   *   from the requested one
   * @param summary entries of the snapshot summary that describe the compute engine
   * @throws iceberglite.spec.IcebergError.InvalidArgument if an argument is not valid, for example if the new table
   *   would have files in directories of the source
   * @throws iceberglite.spec.IcebergError.NotFound if the source has no such snapshot, branch or tag
   * @throws iceberglite.spec.IcebergError.Unsupported if the source is encrypted, if the snapshot has no manifest list,
   *   or if the catalog does not preserve the ids of columns, partition specs, sort orders and expressions (version 4)
   */
  def apply(source: Table, options: CloneOptions, summary: Map[String, String] = Map.empty)(
      stage: TableCreation => StagedTable
  )(drop: Table => Unit): CloneResult = {
    val metadata = source.metadata
    Encryption.reject(metadata, "a clone of", CopyInstead)
    val snapshot = selected(metadata, options)
    snapshot.foreach(requireManifestList(source, _))
    checkProperties(options.properties)
    val used = UsedDirectories.of(source.io, source.name, source.metadataLocation)
    locationsIn(options).foreach { case (what, location) => requireOutside(used, what, location, source.io) }
    val clone = TableClone(metadata, snapshot)
    val properties = inherited(source) ++ options.properties
    val staged =
      stage(TableCreation(source.schema, location = options.location, properties = properties, cloneOf = Some(clone)))
    try {
      requireOutside(used, "location of the new table", staged.table.location, source.io)
      requireMatch(clone, staged.table)
      // The properties of the new table may come from its catalog.
      Encryption.reject(staged.table.metadata, "a clone of", CopyInstead)
      // This count also checks that the new table's storage can read the files of the source.
      val (dataFiles, deleteFiles) = snapshot.fold((0L, 0L))(countFiles(_, staged.table))
      CloneResult(committed(staged, clone, summary)(drop), snapshot, dataFiles, deleteFiles)
    } finally staged.abort()
  }

  private val CopyInstead = "Copy the table with CREATE TABLE AS SELECT"

  /** Creates the table. Drops it again if it differs from the requested one. */
  private def committed(staged: StagedTable, clone: TableClone, summary: Map[String, String])(
      drop: Table => Unit
  ): Table = {
    val created = staged.commit(summary)
    try requireMatch(clone, created)
    catch {
      case e: Unsupported =>
        drop(created)
        throw e
    }
    created
  }

  /** The locations that the options set, each with the name of the option. */
  private def locationsIn(options: CloneOptions): Seq[(String, String)] =
    options.location.map("argument location" -> _).toSeq ++
      TableProperty.locations.flatMap(p => options.properties.get(p.key).map(s"table property ${p.key}" -> _))

  private def selected(source: TableMetadata, options: CloneOptions): Option[Snapshot] =
    (options.snapshotId, options.ref) match {
      case (Some(id), Some(ref)) =>
        throw InvalidArgument("arguments snapshot_id and ref", s"$id and $ref", "Set only one of them")
      case (Some(id), None) => Some(source.snapshot(id))
      case (None, Some(ref)) if ref == SnapshotRef.Main => source.currentSnapshot
      case (None, Some(ref)) => Some(source.snapshotOf(ref).getOrElse(throw NotFound(
          ObjectKind.BranchOrTag,
          ref,
          s"The branches and tags are ${source.refs.keys.toVector.sorted.mkString(", ")}"
        )))
      case (None, None) => source.currentSnapshot
    }

  private def requireManifestList(source: Table, snapshot: Snapshot): Unit =
    if (snapshot.manifestList.isEmpty && source.metadata.formatVersion > FormatVersion.V1) throw Unsupported(
      s"cloning snapshot ${snapshot.snapshotId} of ${source.name}, which has no manifest list, because an old writer " +
        "of format version 1 added it",
      "Clone a later snapshot"
    )

  private def checkProperties(properties: Map[String, String]): Unit = {
    TableProperty.check(properties)
    properties.keys.find(TableProperty.Reserved).foreach { key =>
      throw InvalidArgument("argument properties", key, "The clone takes this value from its source")
    }
    properties.keys.find(CheckConstraint.isKey).foreach { key =>
      throw InvalidArgument(
        "argument properties",
        key,
        "A clone does not read rows: use ALTER TABLE ... ADD CONSTRAINT after the clone"
      )
    }
    properties.keys.find(GeneratedColumn.isKey).foreach { key =>
      throw InvalidArgument("argument properties", key, "The clone takes the generated columns from its source")
    }
    properties.get(TableProperty.Gc.key).filterNot(_ == "false").foreach { value =>
      throw InvalidArgument(
        "argument properties",
        s"${TableProperty.Gc.key}=$value",
        "A clone uses files of its source, so it is created with the value false"
      )
    }
  }

  /**
   * Returns the properties that the clone takes from its source. Properties with locations of new files are omitted,
   * because the clone must not write files to directories of the source.
   */
  private def inherited(source: Table): Map[String, String] =
    source.properties -- TableProperty.locations.map(_.key) + (TableProperty.ClonedFrom.key -> source.name)

  private def requireOutside(used: UsedDirectories, what: String, location: String, io: FileIO): Unit = {
    val path = StoragePath.of(location, io.defaultFileSystem)
    used.directories.find(directory => path.exists(_.overlaps(directory))).foreach { directory =>
      throw InvalidArgument(
        what,
        location,
        s"The table ${used.name} uses $directory. Choose another location, so that neither table deletes files of " +
          "the other"
      )
    }
  }

  private def requireMatch(clone: TableClone, created: Table): Unit =
    if (!clone.matches(created.metadata)) throw Unsupported(
      s"cloning to ${created.name}, because its catalog assigns other ids to columns, partition specs, sort orders " +
        "or expressions",
      "Create the table in another catalog, or copy the rows with CREATE TABLE AS SELECT"
    )

  private def countFiles(snapshot: Snapshot, created: Table): (Long, Long) = {
    val table = TreeTable(created.name, created.io, created.metadata)
    val files = MetadataTree.at(snapshot, table)
    def live(part: FilePart): Long = part.liveFiles.getOrElse(files.entries(part).count(_.isLive).toLong)
    val (data, deletes) = files.parts.partition(_.content == ManifestContent.Data)
    (data.map(live).sum, deletes.map(live).sum)
  }
}
