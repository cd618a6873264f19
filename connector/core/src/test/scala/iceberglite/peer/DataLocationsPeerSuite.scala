package iceberglite.peer

import scala.collection.JavaConverters._
import scala.util.Random

import org.apache.iceberg.LocationProviders
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.partition.{PartitionSpec, PartitionTuple}
import iceberglite.table.DataLocations

/** Compares the paths of new data files with the paths that Apache Iceberg's location providers return. */
class DataLocationsPeerSuite extends AnyFunSuite {
  private val locations =
    Seq("s3://b/wh/db/t", "s3://b/t", "hdfs://nn:8020/wh/db/t/", "file:///wh/db/t", "file:/wh/t", "/wh/db/t")
  private val directories = Seq("s3://other/x", "s3://b/wh/db/t/files", "/data/", "s3://b/wh/db/t2")

  /** Replaces deprecated keys by `write.data.path`, because Apache Iceberg rejects them if they have an effect. */
  private def renamed(properties: Map[String, String]): Map[String, String] = {
    val usesObjectStorage = properties.get("write.object-storage.enabled").contains("true")
    properties.flatMap {
      case ("write.folder-storage.path", directory) => Some("write.data.path" -> directory)
      case ("write.object-storage.path", directory) =>
        if (usesObjectStorage) Some("write.data.path" -> directory) else None
      case other => Some(other)
    }
  }

  private val settings: Seq[Map[String, String]] =
    for {
      enabled <- Seq(None, Some("true"), Some("false"))
      partitioned <- Seq(None, Some("true"), Some("false"))
      named <- None +: (for {
        key <- Seq("write.data.path", "write.object-storage.path", "write.folder-storage.path")
        directory <- directories
      } yield Some(key -> directory))
    } yield Map.empty[String, String] ++ enabled.map("write.object-storage.enabled" -> _) ++
      partitioned.map("write.object-storage.partitioned-paths" -> _) ++ named

  test("data files of an unpartitioned table have the same paths as in Apache Iceberg, for all location properties") {
    val random = new Random(7L)
    for (location <- locations; properties <- settings) {
      val file = s"00000-${random.nextInt(100)}-${random.nextLong().toHexString}-00001.parquet"
      val theirs = LocationProviders.locationsFor(location, renamed(properties).asJava).newDataLocation(file)
      val ours = DataLocations.of(location, properties).path(PartitionSpec.Unpartitioned, PartitionTuple.Empty, file)
      // For a table at the root of a bucket, Apache Iceberg returns a path with a double slash.
      assert(ours == theirs.replace("//t/", "/t/"), s"location $location, properties $properties")
    }
  }

  test("the hash directories of any file name are the same as in Apache Iceberg") {
    val random = new Random(11L)
    val properties = Map("write.object-storage.enabled" -> "true")
    val provider = LocationProviders.locationsFor("s3://b/t", properties.asJava)
    val ours = DataLocations.of("s3://b/t", properties)
    for (length <- 0 to 300) {
      val name = Seq.fill(length)(if (random.nextBoolean()) random.nextPrintableChar() else 'ü').mkString
      assert(ours.path(PartitionSpec.Unpartitioned, PartitionTuple.Empty, name) == provider.newDataLocation(name))
    }
  }
}
