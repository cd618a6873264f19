package iceberglite.spark.procedure

import java.net.URI
import java.nio.file.{Files, Path, Paths}

import scala.collection.JavaConverters._

import org.apache.avro.file.DataFileReader
import org.apache.avro.generic.{GenericDatumReader, GenericRecord}
import org.apache.spark.sql.{Row, SparkSession}

import iceberglite.puffin.DeletionVector

/**
 * Lists the files that snapshots need, in order to check which files maintenance deletes. The metadata trees are read
 * with Spark's reader of Parquet and with Avro's own reader, and not with the readers of iceberg-lite. Only the bytes
 * of deletion vectors are parsed with its code.
 */
final private[procedure] class ReachableFiles(spark: SparkSession) {
  import ReachableFiles._

  /** Returns the files of a snapshot. @param pointer the path of its manifest list or root */
  def of(pointer: String): Set[Path] = {
    val file = pathOf(pointer)
    Set(file) ++ (if (pointer.endsWith(".avro")) ofList(file) else ofRoot(pointer))
  }

  private def ofList(list: Path): Set[Path] = {
    val manifests = avro(list)(_.get("manifest_path").toString).toSet
    manifests.flatMap(manifest => avroFiles(manifest).map(_._2).map(pathOf) :+ pathOf(manifest))
  }

  private def ofRoot(root: String): Set[Path] = {
    val entries = read(root)
    val vectors = entries.filter(e => e.content == ManifestVector && e.isLive)
      .map(e => e.referenced -> DeletionVector.parse(root, e.referenced, vectorBytes(e))).toMap
    val (leaves, others) = entries.partition(e => e.content == DataManifest || e.content == DeleteManifest)
    val ofLeaves = leaves.filter(_.isLive).flatMap { leaf =>
      val removed = vectors.getOrElse(leaf.location, DeletionVector.Empty)
      liveFiles(leaf.location).collect { case (position, path) if !removed.isDeleted(position) => path } :+
        leaf.location
    }
    // The changes of a snapshot are computed with the deletion vectors that it replaced.
    val inRoot = others.filter(e => e.isLive || e.content == ManifestVector).map(_.location).filter(_.nonEmpty)
    (ofLeaves ++ inRoot).map(pathOf).toSet
  }

  /** Returns the live files that a leaf lists, with their positions. */
  private def liveFiles(leaf: String): Seq[(Long, String)] =
    if (leaf.endsWith(".avro")) avroFiles(leaf)
    else read(leaf).zipWithIndex.collect { case (e, i) if e.isLive => i.toLong -> e.location }

  private def avroFiles(manifest: String): Seq[(Long, String)] =
    avro(pathOf(manifest)) { record =>
      val file = record.get("data_file").asInstanceOf[GenericRecord]
      (record.get("status").asInstanceOf[Int], file.get("file_path").toString)
    }.zipWithIndex.collect { case ((status, path), i) if status != Deleted => i.toLong -> path }

  private def avro[A](file: Path)(of: GenericRecord => A): Seq[A] = {
    val reader = new DataFileReader[GenericRecord](file.toFile, new GenericDatumReader[GenericRecord])
    try reader.iterator.asScala.map(of).toVector
    finally reader.close()
  }

  private def read(manifest: String): Seq[Entry] =
    spark.read.schema(ReachableFiles.Columns).parquet(manifest).select(
      "content_type",
      "location",
      "version_info.status",
      "referenced_file",
      "deletion_vector.offset",
      "deletion_vector.size_in_bytes",
      "deletion_vector.inline_content"
    ).coalesce(1).collect().map(Entry(_)).toVector

  private def vectorBytes(e: Entry): Array[Byte] = e.inline.getOrElse {
    val (offset, size) = e.blob
    Files.readAllBytes(pathOf(e.location)).slice(offset.toInt, (offset + size).toInt)
  }
}

private[procedure] object ReachableFiles {

  /** The columns that are read. A file may lack columns that are null in all of its rows. */
  private val Columns =
    "content_type INT, location STRING, version_info STRUCT<status: INT>, referenced_file STRING, " +
      "deletion_vector STRUCT<offset: BIGINT, size_in_bytes: BIGINT, inline_content: BINARY>"

  private val Deleted = 2
  private val DataManifest = 3
  private val DeleteManifest = 4
  private val ManifestVector = 5

  /** Returns the local path of a file. @param location an URI or a path */
  def pathOf(location: String): Path =
    if (location.startsWith("file:")) Paths.get(new URI(location).getPath) else Paths.get(location)

  /** An entry of a manifest of version 4. */
  private case class Entry(row: Row) {
    def content: Int = row.getInt(0)
    def location: String = row.getString(1)
    def isLive: Boolean = row.getInt(2) != Deleted
    def referenced: String = row.getString(3)
    def blob: (Long, Long) = (row.getLong(4), row.getLong(5))
    def inline: Option[Array[Byte]] = Option(row.getAs[Array[Byte]](6))
  }
}
