package iceberglite.table

import java.net.URLEncoder
import java.nio.charset.StandardCharsets.UTF_8
import java.util.Locale

import iceberglite.spec.IcebergError.Unsupported
import iceberglite.spec.partition.{PartitionSpec, PartitionTuple}
import iceberglite.spec.property.TableProperty
import iceberglite.spec.types.Murmur3

/**
 * Locations of new data files of a table. Serializable, so that Spark tasks can use the locations.
 *
 * @param directory directory of data files
 * @param spread the layout of hash directories for object storage; absent if there is one directory per partition
 */
final case class DataLocations private (directory: String, spread: Option[DataLocations.Spread]) {

  /** Returns the path of a file in a partition. */
  def path(spec: PartitionSpec, partition: PartitionTuple, fileName: String): String = {
    val inPartition = Seq(DataLocations.partitionPath(spec, partition), fileName).filter(_.nonEmpty).mkString("/")
    spread match {
      case None => s"$directory/$inPartition"
      case Some(s) if s.withPartition => s"$directory/${s.directories(inPartition)}"
      case Some(s) => s"$directory/${s.directories(fileName)}"
    }
  }
}

object DataLocations {
  private val Provider = "write.location-provider.impl"

  /**
   * Returns the locations for a table with these properties.
   *
   * @throws Unsupported if the table properties set a location provider, because location providers are not supported
   */
  def of(tableLocation: String, properties: Map[String, String]): DataLocations = {
    properties.get(Provider).foreach { name =>
      throw Unsupported(
        s"the location provider $name",
        s"Remove $Provider from the table's properties. ${TableProperty.ObjectStorage} and ${TableProperty.DataPath} " +
          "determine the locations of data files"
      )
    }
    val location = withoutSlash(tableLocation)
    val isSpread = TableProperty.of(TableProperty.ObjectStorage, properties)
    val legacyPaths = Seq(TableProperty.ObjectStoragePath).filter(_ => isSpread) :+ TableProperty.FolderStoragePath
    val configured = (TableProperty.DataPath +: legacyPaths).flatMap(TableProperty.of(_, properties)).find(_.nonEmpty)
    val directory = configured.fold(s"$location/data")(withoutSlash)
    def context = if (directory.startsWith(location)) None else Some(lastTwo(location))
    val inPartition = TableProperty.of(TableProperty.ObjectStoragePartitions, properties)
    DataLocations(directory, if (isSpread) Some(Spread(context, inPartition)) else None)
  }

  /**
   * Returns the last two path elements, without the scheme and, if the table is at the top of a bucket, without the
   * bucket.
   */
  private def lastTwo(location: String): String =
    location.replaceFirst("^[A-Za-z][A-Za-z0-9+.-]*:(//[^/]*)?", "").split('/').filter(_.nonEmpty).takeRight(2)
      .mkString("/")

  /**
   * Returns a path such as `day=2024-01-01/region=a%2Fb`; empty for a partition spec without fields. A null value is
   * written as `null`, as in Apache Iceberg.
   */
  def partitionPath(spec: PartitionSpec, partition: PartitionTuple): String =
    spec.fields.zip(partition.values).map { case (field, value) =>
      s"${encoded(field.name)}=${encoded(value.fold("null")(field.transform.toHuman))}"
    }.mkString("/")

  private def encoded(text: String): String = URLEncoder.encode(text, UTF_8)

  private def withoutSlash(path: String): String =
    if (path.endsWith("/") && !path.endsWith("://")) withoutSlash(path.dropRight(1)) else path

  /**
   * Places files in directories by a hash of the file name and, if `withPartition` is true, of the partition, so that
   * requests to an object store are spread over the store's partitions.
   *
   * @param context the last two elements of the table's location, if the data directory is outside of this location
   * @param withPartition whether the path includes the partition
   */
  final case class Spread(context: Option[String], withPartition: Boolean) {
    private[iceberglite] def directories(name: String): String = {
      val bytes = name.getBytes(UTF_8)
      val hash = Murmur3.hashBytes(bytes, 0, bytes.length)
      // The directories are the last twenty bits of the hash, including leading zeros, such as 0101/1001/1010/01101110.
      val bits = Integer.toBinaryString(hash | Int.MinValue).takeRight(20)
      val hashDirectories = Seq(bits.take(4), bits.slice(4, 8), bits.slice(8, 12), bits.drop(12)).mkString("/")
      context match {
        case Some(tablePath) => s"$hashDirectories/$tablePath/$name"
        case None if withPartition => s"$hashDirectories/$name"
        case None => s"$hashDirectories-$name"
      }
    }
  }
}

/**
 * Generates file names for one task. The names are unique across tasks, attempts and jobs.
 *
 * @param partitionId Spark's partition id
 * @param taskId id of the task attempt
 * @param operationId id of the write. The names of all files of the write contain it
 */
final class DataFileNames(partitionId: Int, taskId: Long, operationId: String, extension: String) {
  private var count = 0

  /** Returns `00003-17-<operation>-00001.parquet`, then `…-00002.parquet`, and so on. */
  def next(): String = {
    count += 1
    "%05d-%d-%s-%05d%s".formatLocal(Locale.ROOT, partitionId, taskId, operationId, count, extension)
  }
}
