package iceberglite.scan

import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8
import java.util.{HashSet => JavaSet}

import scala.collection.mutable

import iceberglite.data.{DataFormats, DataSource, Record}
import iceberglite.io.FileIO
import iceberglite.io.puffin.{DeletionVector, DeletionVectorFiles}
import iceberglite.spec._
import iceberglite.spec.IcebergError.{UnreadableFile, Unsupported}
import iceberglite.spec.Type.StructType

/**
 * Reads the delete files of data files (spec: "Delete Formats"). What several data files share is read once and kept as
 * long as the reader, which is one thread's.
 *
 * @param nameMapping the table's, for delete files without field ids
 */
final class DeleteReader(io: FileIO, specs: Map[Int, PartitionSpec], nameMapping: Option[NameMapping]) {
  private val positionFiles = mutable.Map.empty[String, Map[String, DeletionVector]]
  private val keySets = mutable.Map.empty[(Vector[KeyColumn], Vector[String]), DeletedKeys]

  /**
   * @param dataFile the path of the data file, as metadata has it
   * @throws UnreadableFile a delete file is damaged, or is not what its entry says
   */
  def of(dataFile: String, deletes: Vector[DeleteFile]): RowDeletes =
    if (deletes.isEmpty) RowDeletes.None
    else {
      deletes.foreach(requireReadable)
      val (equality, positions) = deletes.partition(_.isEquality)
      val byKey = equality.groupBy(_.keys).toVector
      new RowDeletes(positionsOf(dataFile, positions), byKey.map { case (keys, files) => keysOf(keys, files) })
    }

  private def requireReadable(delete: DeleteFile): Unit = if (delete.file.keyMetadata.isDefined) throw Unsupported(
    s"encrypted delete file ${delete.file.path}",
    "This release has no keys; read the table with an engine that has"
  )

  private def positionsOf(dataFile: String, deletes: Vector[DeleteFile]): DeletionVector =
    deletes.map(d =>
      if (d.isVector) DeletionVectorFiles.read(io, d.file) else ofFile(d.file).getOrElse(dataFile, DeletionVector.Empty)
    )
      .foldLeft(DeletionVector.Empty)(_ union _)

  /** The positions in a position delete file, by data file. */
  private def ofFile(entry: ContentFile): Map[String, DeletionVector] = positionFiles.getOrElseUpdate(
    entry.path, {
      val builders = mutable.Map.empty[String, DeletionVector.Builder]
      var (lastPath, last) = ("", DeletionVector.newBuilder)
      foreachRow(entry, DeleteReader.PositionColumns, Some(DeleteReader.PositionNames)) { row =>
        // Sorted by path: most rows speak of the file that the row before them speaks of.
        val path = row(0).asInstanceOf[String]
        if (path != lastPath) {
          requireSpokenOf(entry, path)
          last = builders.getOrElseUpdate(path, DeletionVector.newBuilder)
          lastPath = path
        }
        val position = row(1).asInstanceOf[java.lang.Long].longValue
        if (position < 0)
          throw UnreadableFile(entry.path, "position delete file", s"It names the row $position of $path")
        last += position
      }
      builders.mapValues(_.result()).toMap.map(identity)
    }
  )

  /** A file that speaks of others than its entry says is not the file that was committed. */
  private def requireSpokenOf(entry: ContentFile, path: String): Unit = {
    val bytes = ByteBuffer.wrap(path.getBytes(UTF_8))
    val id = MetadataColumns.DeleteFilePath.id
    val said = entry.referencedDataFile.forall(_ == path) &&
      entry.metrics.lowerBound(id).forall(Literal.compareUnsigned(_, bytes) <= 0) &&
      entry.metrics.upperBound(id).forall(Literal.compareUnsigned(_, bytes) >= 0)
    if (!said) throw UnreadableFile(
      entry.path,
      "position delete file",
      s"It deletes rows of $path, of which its entry in the manifest does not speak. Restore the file that was committed"
    )
  }

  private def keysOf(columns: Vector[KeyColumn], deletes: Vector[DeleteFile]): DeletedKeys =
    keySets.getOrElseUpdate(
      (columns, deletes.map(_.file.path)), {
        val read = ReadColumns.merged(Vector.empty, columns.map(_.column))
        val rows = new JavaSet[Record]
        val keyOf = new KeyOf(columns, read)
        deletes.foreach(d =>
          foreachRow(d.file, StructType(read), nameMapping) { row =>
            val key = keyOf(row)
            if (!rows.contains(key)) rows.add(new Record(key.values.clone()))
          }
        )
        new DeletedKeys(columns, rows)
      }
    )

  private def foreachRow(
      entry: ContentFile,
      wanted: StructType,
      mapping: Option[NameMapping]
  )(f: Record => Unit): Unit = {
    val constants =
      specs.get(entry.specId).fold(Map.empty[Int, AnyRef])(FileConstants.identities(_, entry.partition, wanted))
    val source = DataSource(io, entry.path, entry.fileSizeInBytes, mapping, constants)
    val rows = DataFormats.of(entry.format).read(source, wanted)
    try rows.foreach(f)
    finally rows.close()
  }
}

private object DeleteReader {
  private val columns = Vector(MetadataColumns.DeleteFilePath, MetadataColumns.DeletePosition)
  val PositionColumns: StructType = StructType(columns)

  /** For files without field ids: the specification fixes the names too. */
  val PositionNames: NameMapping = NameMapping(columns.map(f => MappedField(Vector(f.name), Some(f.id), Vector.empty)))
}
