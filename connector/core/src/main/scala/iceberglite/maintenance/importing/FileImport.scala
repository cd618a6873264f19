package iceberglite.maintenance.importing

import iceberglite.data.{DataFormats, DataSource}
import iceberglite.metrics.MetricsModes
import iceberglite.data.FileConstants
import iceberglite.spec.file.{ContentFile, FileFormat}
import iceberglite.spec.metadata.Encryption
import iceberglite.spec.partition.{PartitionSpec, PartitionTuple, SortOrder}
import iceberglite.spec.schema.{NameMapping, Schema}
import iceberglite.storage.FileIO
import iceberglite.table.{SnapshotTarget, Table}
import iceberglite.table.action.{AddExistingFiles, AddNameMapping}
import iceberglite.tree.MetadataPool

/** A file to add to a table. @param length length in bytes */
final case class SourceFile(path: String, length: Long, format: FileFormat, partition: PartitionTuple)

/**
 * Reads the metadata of files that are added to a table. Instances are serializable, so that Spark tasks can read the
 * footers of many files.
 *
 * @param spec the partition spec of the files
 * @param ignoresMissing whether files that no longer exist are omitted; otherwise they are an error
 */
final case class FileInspector(
    io: FileIO,
    schema: Schema,
    spec: PartitionSpec,
    modes: MetricsModes,
    nameMapping: NameMapping,
    ignoresMissing: Boolean
) {

  /**
   * Returns the metadata of files, in their order.
   *
   * @throws iceberglite.spec.IcebergError.UnreadableFile if a file is damaged or cannot be read with the table's types
   */
  def inspect(files: Vector[SourceFile]): Vector[ContentFile] = MetadataPool.map(files)(inspect).flatten

  private def inspect(file: SourceFile): Option[ContentFile] =
    if (ignoresMissing && !io.exists(file.path)) None
    else {
      val constants = FileConstants.identities(spec, file.partition, schema.asStruct)
      val source = DataSource(io, file.path, file.length, Some(nameMapping), constants)
      val found = DataFormats.of(file.format).inspect(source, schema, modes)
      Some(found.dataFile(spec.specId, file.partition, SortOrder.Unsorted.orderId))
    }
}

/** Runs a `FileInspector` for many files. */
trait Inspection {
  def inspect(inspector: FileInspector, files: Vector[SourceFile]): Vector[ContentFile]
}

/** Reads all footers in this JVM. */
object LocalInspection extends Inspection {
  override def inspect(inspector: FileInspector, files: Vector[SourceFile]): Vector[ContentFile] =
    inspector.inspect(files)
}

/**
 * Adds existing files of other programs to a table, in one commit. The files are neither copied nor changed. Files
 * outside of the directories that the table owns are never deleted.
 *
 * @param checksDuplicates whether files that are already in the table are an error
 * @param ignoresMissing whether files that no longer exist are omitted; otherwise they are an error
 * @param to the branch to which the files are added
 */
final case class FileImport(
    checksDuplicates: Boolean,
    ignoresMissing: Boolean = false,
    to: SnapshotTarget = SnapshotTarget.Main
) {

  /**
   * Adds the files of a source. The table gets a name mapping if it has none, because files of other programs usually
   * have no field ids. Without files, no snapshot is added.
   *
   * @throws iceberglite.spec.IcebergError.Unsupported if the table is encrypted, because the files are not
   * @param table the table, possibly staged
   * @param summary entries of the snapshot summary that describe the compute engine
   * @return the table after the commit, and the numbers of added files and partitions
   */
  def run(
      table: Table,
      spec: ImportSpec,
      partitions: Vector[SourcePartition],
      inspection: Inspection,
      summary: Map[String, String] = Map.empty
  ): ImportResult = {
    Encryption.reject(table.metadata, "adding existing files to", "Insert the rows of the files instead")
    val files = partitions.flatMap { p =>
      val tuple = spec.tuple(p.values)
      p.files.map(f => SourceFile(f.path, f.length, p.format, tuple))
    }
    to.head(table.metadata) // Rejects a name that is not a branch before files are read.
    val added = inspection.inspect(inspector(table, spec.spec), files)
    val mapped = table.transaction(summary).add(new AddNameMapping)
    val transaction = if (added.isEmpty) mapped else mapped.add(new AddExistingFiles(added, checksDuplicates, to))
    ImportResult(transaction.commit(), added.size.toLong, added.map(_.partition).distinct.size.toLong)
  }

  private def inspector(table: Table, spec: PartitionSpec): FileInspector = FileInspector(
    table.io,
    table.schema,
    spec,
    MetricsModes.of(table.properties, table.schema, table.sortOrder),
    table.nameMapping.getOrElse(NameMapping.of(table.schema)),
    ignoresMissing
  )
}

/**
 * The result of an import.
 *
 * @param table the table after the commit
 * @param files the number of added files
 * @param partitions the number of partitions of the added files
 */
final case class ImportResult(table: Table, files: Long, partitions: Long)
