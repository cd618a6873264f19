package iceberglite.spark.maintenance

import org.apache.spark.{Partitioner, SparkContext, TaskContext}
import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.SparkSession

import iceberglite.maintenance.compact._
import iceberglite.puffin.DeletionVector
import iceberglite.scan.deletes.DeleteFile
import iceberglite.spark.cluster.{ClusterJob, WritingJob}
import iceberglite.spark.cluster.ClusterJob.{deserialize, distribute, serialize}
import iceberglite.spark.write.WriteCommit
import iceberglite.spec.FormatVersion
import iceberglite.spec.file.ContentFile
import iceberglite.spec.metadata.Snapshot
import iceberglite.spec.partition.{PartitionSpec, PartitionTuple}
import iceberglite.table.{DataFileNames, DataLocations, Table}
import iceberglite.tree.{FilePart, MetadataPool, MetadataTree, FilePartitions}

/**
 * The size of a rewrite of position delete files.
 *
 * @param files the number of delete files to read
 * @param positions the number of positions in these files
 * @param manifestBytes the size of the manifests to read
 */
final private[iceberglite] case class DeleteRewriteSize(files: Int, positions: Long, manifestBytes: Long)

private[iceberglite] object DeleteRewriteSize {
  private val LocalFiles = 1000

  /** The maximum number of positions that the driver merges. A position takes at most about 10 bytes of heap. */
  private val LocalPositions = 10000000L

  /**
   * The maximum number of bytes of manifests, per core of the driver, that the driver reads without a Spark job if the
   * cluster has more cores than the driver.
   */
  private val LocalManifestBytes = 16L << 20

  /** Returns whether the rewrite is too large for the driver, or much faster on the cluster. */
  private[maintenance] def needsCluster(clusterCores: Int, size: DeleteRewriteSize): Boolean = {
    val cores = Runtime.getRuntime.availableProcessors
    size.positions > LocalPositions || size.files > LocalFiles ||
    clusterCores > cores && size.manifestBytes > cores * LocalManifestBytes
  }
}

/**
 * Merges the position deletes of groups and writes them to new files: on the driver if the rewrite is small (see
 * [[DeleteRewriteSize.needsCluster]]), and otherwise with a Spark job. The job reads each delete file and each manifest
 * once, and distributes the deletes by data file. With the Spark job, the driver holds neither the deleted positions
 * nor the list of the table's data files in memory.
 *
 * @param snapshot the snapshot from which the groups were planned
 */
final private[maintenance] class PositionDeleteJob(
    session: SparkSession,
    table: Table,
    snapshot: Snapshot,
    groups: Vector[PositionDeleteGroup],
    options: GroupOptions
) {
  import PositionDeleteJob._

  /** The delete files to rewrite, each with the index of its group. */
  private val deleteFiles: Vector[(Int, DeleteFile)] =
    groups.zipWithIndex.flatMap { case (group, index) => group.deletes.map(index -> _) }
  private val merge = PositionDeleteMerge.of(table.io, table.metadata.specsById, groups)
  private val writer = PositionDeleteWriter.of(table, groups, options)
  private val tree = MetadataTree.at(snapshot, table.tree())

  /**
   * The manifests (in version 4, also the root of the metadata tree) that may list data files or deletion vectors in
   * the partitions of the groups.
   */
  private val parts: Vector[FilePart] = {
    val partitions = new FilePartitions(groups.map(_.deletes.head.file), table.metadata)
    val hasVectors = table.metadata.formatVersion >= FormatVersion.V3
    PositionDeleteMerge.parts(tree, partitions.mightMatch, hasVectors)
  }

  /**
   * Writes the deletes. If this method fails, the caller removes the new files.
   *
   * @return the new files
   * @throws iceberglite.spec.IcebergError if a delete file or a manifest is damaged, or a file could not be written
   */
  def run(
      writeCommit: WriteCommit,
      shouldUseCluster: (Int, DeleteRewriteSize) => Boolean
  ): Vector[ContentFile] = {
    val context = session.sparkContext
    val size = DeleteRewriteSize(deleteFiles.size, groups.map(_.positions).sum, parts.map(_.length).sum)
    ClusterJob.withDriverWork(context, s"Rewriting ${deleteFiles.size} position delete files of ${table.name}") {
      if (!shouldUseCluster(context.defaultParallelism, size)) onDriver(writeCommit)
      else {
        val files = ClusterJob.withTaskErrors(onCluster(context, writeCommit))
        files.iterator.map(_.path).toVector.distinct.foreach(writeCommit.registerFile)
        files
      }
    }
  }

  private def onDriver(writeCommit: WriteCommit): Vector[ContentFile] = {
    val names = new DataFileNames(0, 0L, writeCommit.operationId, writer.extension)
    def newPath(): String = synchronized {
      val path = pathOf(names, writeCommit.locations)
      writeCommit.registerFile(path)
      path
    }
    val merged = merge.merge(deleteFiles, tree, parts)
    MetadataPool.map(writer.independent(merged, MetadataPool.Width)) { some =>
      writer.write(some.iterator, () => newPath())
    }.flatten
  }

  private def onCluster(context: SparkContext, writeCommit: WriteCommit): Vector[ContentFile] = {
    val sharedMerge = context.broadcast(serialize(merge))
    val ofDeletes = distribute(context, deleteFiles).flatMap { bytes =>
      val merge = deserialize[PositionDeleteMerge](sharedMerge.value)
      deserialize[Vector[(Int, DeleteFile)]](bytes).iterator.flatMap { case (group, delete) =>
        merge.findings(group, delete).map(encode)
      }
    }
    val ofMetadata = distribute(context, parts.map(_.forReading)).flatMap { bytes =>
      val merge = deserialize[PositionDeleteMerge](sharedMerge.value)
      deserialize[Vector[FilePart]](bytes).iterator.flatMap(part => merge.findings(part)).map(encode)
    }
    val sorted = (ofDeletes ++ ofMetadata).repartitionAndSortWithinPartitions(GroupPartitioner.of(groups, options))
    val settings = context.broadcast(serialize((writer, writeCommit.locations)))
    val results = new Array[Array[Byte]](sorted.partitions.length)
    WritingJob.run(context, sorted, writeTask(settings, writeCommit.operationId))(results.update)
    results.toVector.flatMap(result => deserialize[Vector[ContentFile]](ClusterJob.decodeResult(result)))
  }
}

private object PositionDeleteJob {
  private def pathOf(names: DataFileNames, locations: DataLocations): String =
    locations.path(PartitionSpec.Unpartitioned, PartitionTuple.Empty, names.next())

  private def encode(found: (DeleteTargetKey, DeleteFinding)): ((Int, String), Array[Byte]) =
    (found._1.group, found._1.path) -> found._2.toBytes

  private def writeTask(
      settings: Broadcast[Array[Byte]],
      operationId: String
  ): (TaskContext, Iterator[((Int, String), Array[Byte])]) => Array[Byte] = { (context, findings) =>
    val (writer, locations) = deserialize[(PositionDeleteWriter, DataLocations)](settings.value)
    val names = new DataFileNames(context.partitionId(), context.taskAttemptId(), operationId, writer.extension)
    ClusterJob.encodeResult(serialize(writer.write(merged(findings), () => pathOf(names, locations))))
  }

  /** Combines consecutive elements that have the same data file. */
  private def merged(
      findings: Iterator[((Int, String), Array[Byte])]
  ): Iterator[(DeleteTargetKey, DeletionVector)] = {
    val remaining = findings.buffered
    val all = new Iterator[(DeleteTargetKey, DeletionVector)] {
      override def hasNext: Boolean = remaining.hasNext

      override def next(): (DeleteTargetKey, DeletionVector) = {
        val key = remaining.head._1
        val ofFile = new DeleteFindings
        while (remaining.hasNext && remaining.head._1 == key)
          ofFile += DeleteFinding.parse(key._2, remaining.next()._2)
        DeleteTargetKey(key._1, key._2) -> ofFile.applicable
      }
    }
    all.filterNot(_._2.isEmpty)
  }
}

/**
 * Distributes the data files of groups over tasks.
 *
 * @param first the first task of each group
 * @param tasks the number of tasks of each group; groups with one task may share a task
 */
final private class GroupPartitioner(first: Array[Int], tasks: Array[Int], override val numPartitions: Int)
    extends Partitioner {

  override def getPartition(key: Any): Int = key match {
    case (group: Int, path: String) => first(group) + Math.floorMod(path.hashCode, tasks(group))
  }
}

private object GroupPartitioner {

  /** The minimum weight of a group, in bytes, so that a task does not get too many small groups. */
  private val MinGroupBytes = 256L << 10

  def of(groups: Vector[PositionDeleteGroup], options: GroupOptions): GroupPartitioner = {
    val tasks = groups.map(group => options.outputFiles(group.bytes))
    var (used, bytesInLast) = (0, Long.MaxValue)
    val first = groups.zip(tasks).map { case (group, count) =>
      val bytes = math.max(group.bytes, MinGroupBytes)
      if (count == 1 && bytesInLast <= options.targetFileSize - bytes) {
        bytesInLast += bytes
        used - 1
      } else {
        used += count
        bytesInLast = if (count == 1) bytes else Long.MaxValue
        used - count
      }
    }
    new GroupPartitioner(first.toArray, tasks.toArray, math.max(1, used))
  }
}
