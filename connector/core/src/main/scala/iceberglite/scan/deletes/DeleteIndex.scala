package iceberglite.scan.deletes

import java.nio.charset.StandardCharsets.UTF_8
import java.util.{HashMap, IdentityHashMap}

import iceberglite.spec.IcebergError.InvalidMetadata
import iceberglite.spec.file.{Content, ContentFile, KeyRanges, ManifestEntry}
import iceberglite.spec.partition.{PartitionSpec, PartitionTuple}

/**
 * Finds the delete files of a snapshot that apply to a data file (spec: "Scan Planning"; spec version 3: "Deletion
 * vectors"):
 *
 *   - a deletion vector applies to the data file that it references. This data file must be in the same partition as
 *     the deletion vector, and must not have a higher data sequence number;
 *   - if the data file has no deletion vector, position delete files apply if they are in the same partition (the same
 *     partition spec and values) and their data sequence number is not lower than that of the data file; position
 *     delete files that reference one data file apply only to that file;
 *   - equality delete files apply if their data sequence number is higher than that of the data file, and if they are
 *     in the same partition or have an unpartitioned spec.
 *
 * Delete files whose metrics exclude the data file are omitted. Thread-safe.
 *
 * @param keyIds the field ids that equality deletes compare. Planning needs the metrics of these fields, because they
 *   show which equality deletes cannot apply to a data file
 * @param counts the numbers of the delete files in the index
 */
final private[scan] class DeleteIndex private (
    vectors: HashMap[String, DeleteFile],
    byDataFile: HashMap[String, SortedDeletes],
    byPartition: HashMap[(Int, PartitionTuple), PartitionDeletes],
    global: SortedDeletes,
    val keyIds: Set[Int],
    val counts: DeleteCounts
) {
  val isEmpty: Boolean = vectors.isEmpty && byDataFile.isEmpty && byPartition.isEmpty && global.isEmpty

  /**
   * Returns a function that finds the delete files that apply to a data file with the given data sequence number. The
   * entries that a manifest has for one partition share the partition tuple object. The function caches the deletes of
   * a partition by this object, so that it looks them up only once. The function is not thread-safe.
   */
  def lookup: (ContentFile, Long) => Vector[DeleteFile] = {
    val byTuple = new IdentityHashMap[PartitionTuple, Option[PartitionDeletes]]
    (file, sequenceNumber) => {
      val partition = byTuple.computeIfAbsent(file.partition, p => Option(byPartition.get((file.specId, p))))
      of(new DeleteTarget(file, sequenceNumber), partition)
    }
  }

  private def of(data: DeleteTarget, partition: Option[PartitionDeletes]): Vector[DeleteFile] = {
    val equality = concat(global.of(data), partition.fold(DeleteIndex.NoDeletes)(_.equality.of(data)))
    vectorOf(data) match {
      case Some(vector) => equality :+ vector
      case None =>
        val positions = partition.fold(DeleteIndex.NoDeletes)(_.positions.of(data))
        val forFile = Option(byDataFile.get(data.file.path)).fold(DeleteIndex.NoDeletes)(_.of(data))
        concat(equality, concat(positions, forFile))
    }
  }

  private def vectorOf(data: DeleteTarget): Option[DeleteFile] =
    if (vectors.isEmpty) None
    else Option(vectors.get(data.file.path)).map { vector =>
      if (vector.dataSequenceNumber < data.sequenceNumber) throw InvalidMetadata(
        vector.file.path,
        "$.sequence_number",
        s"The deletion vector at ${vector.file.contentOffset.mkString} has the data sequence number " +
          s"${vector.dataSequenceNumber}, but its data file ${data.file.path} is newer: ${data.sequenceNumber}"
      )
      data.requireSamePartition(vector)
      vector
    }

  private def concat(a: Vector[DeleteFile], b: Vector[DeleteFile]): Vector[DeleteFile] =
    if (a.isEmpty) b else if (b.isEmpty) a else a ++ b
}

private[scan] object DeleteIndex {
  private val NoDeletes: Vector[DeleteFile] = Vector.empty

  val Empty: DeleteIndex =
    new DeleteIndex(
      new HashMap,
      new HashMap,
      new HashMap,
      SortedDeletes.of(Vector.empty),
      Set.empty,
      DeleteCounts.Empty
    )

  /**
   * Returns the index of a snapshot's delete files.
   *
   * @param entries live entries of delete manifests
   * @throws InvalidMetadata if two deletion vectors reference the same data file, or if the entry of a deletion vector
   *   lacks a required field
   */
  def of(entries: Vector[ManifestEntry], specs: Map[Int, PartitionSpec], keys: EqualityIdColumns): DeleteIndex = {
    val (vectors, files) = entries.partition(_.file.isDeletionVector)
    val (byKeys, positions) = files.partition(_.file.content == Content.EqualityDeletes)
    val equality = byKeys.map(new EqualityDelete(_, keys))
    val (global, inPartition) = equality
      .partition(d => specs.get(d.file.specId).forall(!_.isPartitioned))
    val (ofOneFile, ofMany) = positions.map(new PositionDelete(_)).partition(_.dataFile.isDefined)
    new DeleteIndex(
      vectorsByFile(vectors),
      hashed(ofOneFile.groupBy(_.dataFile.get))(SortedDeletes.of),
      hashed((ofMany ++ inPartition).groupBy(d => (d.file.specId, d.file.partition)))(PartitionDeletes.of),
      SortedDeletes.of(global),
      equality.iterator.flatMap(_.file.equalityIds).toSet,
      DeleteCounts(vectors.size.toLong, positions.size.toLong, equality.size.toLong)
    )
  }

  private def hashed[K, A, V](groups: Map[K, A])(value: A => V): HashMap[K, V] = {
    val map = new HashMap[K, V](groups.size * 2)
    groups.foreach { case (key, group) => map.put(key, value(group)) }
    map
  }

  private def vectorsByFile(entries: Vector[ManifestEntry]): HashMap[String, DeleteFile] = {
    val map = new HashMap[String, DeleteFile](entries.size * 2)
    entries.foreach { e =>
      val vector = DeleteFile(e.file, e.sequenceNumber.getOrElse(0L), Vector.empty)
      val path = e.file.referencedDataFile.getOrElse(throw incomplete(vector, "referenced_data_file"))
      if (e.file.contentOffset.isEmpty) throw incomplete(vector, "content_offset")
      if (e.file.contentSizeInBytes.isEmpty) throw incomplete(vector, "content_size_in_bytes")
      Option(map.put(path, vector)).foreach(other => throw duplicate(path, other, vector))
    }
    map
  }

  private def incomplete(vector: DeleteFile, field: String): InvalidMetadata =
    InvalidMetadata(vector.file.path, s"$$.$field", "The manifest entry of a deletion vector must have this field")

  private def duplicate(path: String, first: DeleteFile, second: DeleteFile): InvalidMetadata = InvalidMetadata(
    second.file.path,
    "$.referenced_data_file",
    s"The data file $path has two deletion vectors in one snapshot: $first and $second. Roll back to a snapshot in " +
      "which the file has one vector, or rewrite the data file with the engine that wrote the vectors"
  )
}

/**
 * Numbers of delete files.
 *
 * @param vectors number of deletion vectors; a Puffin file may contain several
 * @param positionFiles number of position delete files, not counting deletion vectors
 */
final case class DeleteCounts(vectors: Long, positionFiles: Long, equalityFiles: Long) {
  def total: Long = vectors + positionFiles + equalityFiles
}

object DeleteCounts {
  val Empty: DeleteCounts = DeleteCounts(0L, 0L, 0L)
}

/** A data file for which delete files are looked up. */
final private[scan] class DeleteTarget(val file: ContentFile, val sequenceNumber: Long) {
  lazy val path: Array[Byte] = file.path.getBytes(UTF_8)
  private var keyRanges: List[(EqualityKey, KeyRanges)] = Nil

  /**
   * Returns the ranges of the file's values in the columns of a key. The ranges are cached in a list and not in a map,
   * because most tables have only one key.
   */
  def rangesOf(key: EqualityKey): KeyRanges = keyRanges.find(_._1 eq key).map(_._2).getOrElse {
    val ranges = key.overlap.keysOf(file)
    keyRanges ::= key -> ranges
    ranges
  }

  /**
   * Fails if a deletion vector or position delete file is in another partition than the data file that it references.
   * These deletes apply only to data files of their own partition, so one of the two manifest entries is wrong.
   */
  def requireSamePartition(delete: DeleteFile): Unit =
    if (delete.file.specId != file.specId || delete.file.partition != file.partition) throw InvalidMetadata(
      delete.file.path,
      "$.partition",
      s"$delete deletes rows of the data file ${file.path}, which is in another partition: " +
        s"${DeleteTarget.show(file)}, not ${DeleteTarget.show(delete.file)}"
    )
}

private object DeleteTarget {
  private def show(file: ContentFile): String =
    s"spec ${file.specId} (${file.partition.values.map(_.fold("null")(_.toString)).mkString(", ")})"
}
