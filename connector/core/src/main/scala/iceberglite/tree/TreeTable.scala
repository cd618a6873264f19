package iceberglite.tree

import iceberglite.encryption.{FileKey, TableKeys}
import iceberglite.puffin.PuffinFile
import iceberglite.spec.IcebergError.UnreadableFile
import iceberglite.spec.metadata.{Snapshot, StatisticsFile, TableMetadata}
import iceberglite.spec.property.TableProperty
import iceberglite.spec.schema.Schema
import iceberglite.storage.{EncryptedFileIO, FileIO, StoragePath}

/**
 * A table with everything that reading and writing its metadata trees ([[MetadataTree]]) requires.
 *
 * @param name the full name including the catalog, for messages
 * @param schema the table's schema, or the schema of an old snapshot; it determines the types of partition values
 * @param pool reads and writes the metadata files of the trees
 */
final case class TreeTable(
    name: String,
    io: FileIO,
    metadata: TableMetadata,
    schema: Schema,
    pool: MetadataPool = MetadataPool
) {

  /** The table's partition specs, with the source columns that determine the types of partition values. */
  lazy val specs: PartitionSpecs = PartitionSpecs.of(metadata, schema)

  /**
   * The keys of the table; absent if it is not encrypted.
   *
   * @throws iceberglite.spec.IcebergError if the table is encrypted and its catalog has no key management service
   */
  lazy val keys: Option[TableKeys] = TableKeys.of(name, metadata, io.keyService)

  /** Returns the key of the file to which a snapshot refers; absent if the file is not encrypted. */
  private[tree] def rootKey(snapshot: Snapshot): Option[FileKey] = keys.flatMap(_.manifestListKey(snapshot))

  /** Returns the storage for reading the file to which a snapshot refers, and which may be encrypted. */
  private[tree] def rootIO(snapshot: Snapshot, path: String): FileIO =
    rootKey(snapshot).fold(io)(EncryptedFileIO(io, path, _))

  /** Returns the key of a new file; absent if the table is not encrypted. */
  private[tree] def newKey(): Option[FileKey] = keys.map(_.newFileKeys.next())

  /**
   * Returns the storage for reading a statistics file.
   *
   * @throws UnreadableFile if the table is encrypted and the table metadata has no key of the file
   */
  def statisticsIO(file: StatisticsFile): FileIO =
    keys.fold(io)(of => EncryptedFileIO(io, file.statisticsPath, of.statisticsKey(file)))

  /** Opens a statistics file. @throws UnreadableFile if it does not exist, or is damaged */
  def openStatistics(file: StatisticsFile): PuffinFile = PuffinFile.open(
    statisticsIO(file),
    file.statisticsPath,
    Some(file.fileSizeInBytes).filter(_ => keys.isEmpty)
  )

  /**
   * Runs a read of a metadata file. If the table is a clone and the file belongs to the table that was cloned, the
   * error message says so, because the cloned table may have deleted the file.
   */
  private[tree] def reading[A](body: => A): A =
    try body
    catch { case e: UnreadableFile => throw sourceOf(e.file).fold(e)(source => e.copy(reason = lostBy(source, e))) }

  private def sourceOf(file: String): Option[String] = TableProperty.of(TableProperty.ClonedFrom, metadata.properties)
    .filterNot(_ => pathOf(file).exists(path => pathOf(metadata.location).exists(path.isBelow)))

  private def pathOf(path: String): Option[StoragePath] = StoragePath.of(path, io.defaultFileSystem)

  private def lostBy(source: String, e: UnreadableFile): String =
    s"${e.reason}. $name is a clone of $source and uses its files. $source may have expired the cloned snapshot, or " +
      "removed the file. Clone it again, from a snapshot with a tag"
}

object TreeTable {

  /** Returns the table with its current schema. */
  def apply(name: String, io: FileIO, metadata: TableMetadata): TreeTable =
    TreeTable(name, io, metadata, metadata.schema)
}
