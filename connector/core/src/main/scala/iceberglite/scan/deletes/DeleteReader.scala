package iceberglite.scan.deletes

import java.nio.ByteBuffer
import java.nio.charset.StandardCharsets.UTF_8

import scala.collection.mutable

import iceberglite.data.{DataFormats, DataSource, PositionDeleteFiles, Record}
import iceberglite.puffin.{DeletionVector, DeletionVectorFiles}
import iceberglite.spec.IcebergError.UnreadableFile
import iceberglite.spec.file.ContentFile
import iceberglite.spec.partition.PartitionSpec
import iceberglite.spec.schema.{MetadataColumns, NameMapping}
import iceberglite.spec.types.Literal
import iceberglite.spec.types.Type.StructType
import iceberglite.storage.FileIO
import iceberglite.data.{FileConstants, ReadColumns}

/**
 * Reads the delete files of data files (spec: "Delete Formats"). A delete file that applies to several data files is
 * read once if it fits into the cache. Not thread-safe.
 *
 * @param nameMapping the table's name mapping, for delete files without field ids
 * @param cacheAccess the cache of decoded delete files; by default, a cache that only this reader uses
 */
final class DeleteReader(
    io: FileIO,
    specs: Map[Int, PartitionSpec],
    nameMapping: Option[NameMapping],
    cacheAccess: DeleteCacheAccess = DeleteCacheAccess.toNewCache
) {

  /**
   * Returns the deleted rows of a data file.
   *
   * @param dataFile the path of the data file as written in metadata
   * @throws UnreadableFile if a delete file is damaged or does not match its manifest entry
   */
  def of(dataFile: String, deletes: Vector[DeleteFile]): RowDeletes =
    if (deletes.isEmpty) RowDeletes.None
    else {
      val (equality, positions) = deletes.partition(_.isEquality)
      val byKey = equality.groupBy(_.keys).toVector
      new RowDeletes(positionsOf(dataFile, positions), byKey.map { case (keys, files) => keysOf(keys, files) })
    }

  /**
   * Returns all deleted positions in a position delete file, by the path of the data file. The result is not cached.
   *
   * @throws UnreadableFile if the delete file is damaged or does not match its manifest entry
   */
  def positionsByDataFile(file: ContentFile): Map[String, DeletionVector] = read(file, None).byDataFile

  private def cached[V <: AnyRef](content: AnyRef, weigh: V => Long)(load: => V): V =
    cacheAccess.cache.valueOf[V](CacheKey(cacheAccess.storageKey, content), cacheAccess.limits, weigh)(load)

  private def positionsOf(dataFile: String, deletes: Vector[DeleteFile]): DeletionVector = deletes.map { d =>
    if (d.isVector) cached[DeletionVector](d.location, _.heapBytes)(DeletionVectorFiles.read(io, d.file))
    else if (canCache(d.file)) cachedPositions(d.file).of(dataFile)
    else read(d.file, Some(dataFile)).of(dataFile)
  }.foldLeft(DeletionVector.Empty)(_ union _)

  private def cachedPositions(entry: ContentFile): PositionsByDataFile =
    cached[PositionsByDataFile](entry.path, _.bytes)(read(entry, None))

  /**
   * Returns whether the file's positions fit into the cache, estimated from the file's row count. From a larger file, a
   * task reads the positions for one data file at a time, so that it does not hold all positions in memory.
   */
  private def canCache(entry: ContentFile): Boolean =
    entry.recordCount * DeleteReader.MaxPositionBytes <= cacheAccess.limits.maxEntryBytes

  /** Reads a position delete file. @param only the data file whose positions are returned; absent for all data files */
  private def read(entry: ContentFile, only: Option[String]): PositionsByDataFile = {
    val builders = mutable.Map.empty[String, DeletionVector.Builder]
    var lastPath = ""
    var last: Option[DeletionVector.Builder] = None
    foreachRow(entry, PositionDeleteFiles.Struct, Some(PositionDeleteFiles.Names)) { row =>
      // The rows are sorted by path, so most rows have the same path as the previous row.
      val path = row(0).asInstanceOf[String]
      if (path != lastPath) {
        requireWithinBounds(entry, path)
        last = if (only.forall(_ == path)) Some(builders.getOrElseUpdate(path, DeletionVector.newBuilder)) else None
        lastPath = path
      }
      val position = row(1).asInstanceOf[java.lang.Long].longValue
      if (position < 0)
        throw UnreadableFile(entry.path, "position delete file", s"It has the negative position $position for $path")
      last.foreach(_ += position)
    }
    new PositionsByDataFile(builders.iterator.map { case (path, positions) => path -> positions.result() }.toMap)
  }

  /**
   * Fails if the delete file refers to a data file that the bounds or the `referenced_data_file` of its manifest entry
   * exclude, because such a delete file is not the file that was committed.
   */
  private def requireWithinBounds(entry: ContentFile, path: String): Unit = {
    val bytes = ByteBuffer.wrap(path.getBytes(UTF_8))
    val id = MetadataColumns.DeleteFilePath.id
    val isWithinBounds = entry.referencedDataFile.forall(_ == path) &&
      entry.metrics.lowerBound(id).forall(Literal.compareUnsigned(_, bytes) <= 0) &&
      entry.metrics.upperBound(id).forall(Literal.compareUnsigned(_, bytes) >= 0)
    if (!isWithinBounds) throw UnreadableFile(
      entry.path,
      "position delete file",
      s"It deletes rows of $path, but its manifest entry excludes this path. Restore the file that was committed"
    )
  }

  private def keysOf(columns: Vector[EqualityColumn], deletes: Vector[DeleteFile]): DeletedKeys = {
    val parts = deletes.map(d => cached[KeySet]((d.file.path, columns, nameMapping), _.bytes)(read(d.file, columns)))
    val inMemory = parts.collect { case keys: InMemoryKeys => keys }
    val isSmall = inMemory.map(_.bytes).sum <= cacheAccess.limits.maxEntryBytes / 2
    if (parts.size == 1 || inMemory.size < parts.size || !isSmall) new DeletedKeys(columns, parts)
    else {
      // The keys of all files are merged into one set, so that each row is tested once and not once per file.
      val union = cached[KeySet]((deletes.map(_.file.path), columns, nameMapping), _.bytes) {
        val builder = newKeys(columns, deletes.map(_.file))
        inMemory.foreach(builder ++= _)
        builder.result()
      }
      new DeletedKeys(columns, Vector(union))
    }
  }

  private def read(file: ContentFile, columns: Vector[EqualityColumn]): KeySet = {
    val read = ReadColumns.merge(Vector.empty, columns.map(_.column))
    val keyOf = new KeyExtractor(columns, read)
    val builder = newKeys(columns, Vector(file))
    try {
      foreachRow(file, StructType(read), nameMapping)(row => builder += keyOf(row).values)
      builder.result()
    } catch {
      case e: Throwable =>
        builder.discard()
        throw e
    }
  }

  private def newKeys(columns: Vector[EqualityColumn], files: Vector[ContentFile]): KeySetBuilder = new KeySetBuilder(
    columns,
    cacheAccess.limits.maxEntryBytes,
    cacheAccess.spillDirectory,
    encrypts = files.exists(_.keyMetadata.isDefined)
  )

  private def foreachRow(
      entry: ContentFile,
      columns: StructType,
      mapping: Option[NameMapping]
  )(f: Record => Unit): Unit = {
    val constants =
      specs.get(entry.specId).fold(Map.empty[Int, AnyRef])(FileConstants.identities(_, entry.partition, columns))
    val source = DataSource.of(io, entry, mapping, constants)
    val rows = DataFormats.of(entry.format).read(source, columns)
    try rows.foreach(f)
    finally rows.close()
  }
}

/** The positions in a delete file, by data file. Thread-safe. */
final private class PositionsByDataFile(val byDataFile: Map[String, DeletionVector]) {
  def of(dataFile: String): DeletionVector = byDataFile.getOrElse(dataFile, DeletionVector.Empty)

  val bytes: Long = byDataFile.iterator.map { case (path, vector) => path.length * 2L + 100L + vector.heapBytes }.sum
}

/** Key of a cached value. @param content identifies one delete file, or several delete files whose keys were merged */
final private case class CacheKey(storageKey: AnyRef, content: AnyRef)

private object DeleteReader {

  /** The assumed maximum heap size of one deleted position in bytes. */
  val MaxPositionBytes = 8L
}
