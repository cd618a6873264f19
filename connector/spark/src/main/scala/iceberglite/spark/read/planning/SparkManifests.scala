package iceberglite.spark.read.planning

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, ObjectInputStream, ObjectOutputStream, ObjectStreamClass}

import org.apache.spark.{SparkContext, TaskContext}
import org.apache.spark.broadcast.Broadcast

import iceberglite.scan.{ManifestCluster, ManifestReading}
import iceberglite.spark.conf.{PlanningMode, PlanningModes}
import iceberglite.spec.{IcebergError, ManifestFile}

/**
 * Manifests that the executors read, by a job of Spark: each gives back the entries that the scan wants, packed as a
 * small manifest. What goes back and forth is byte arrays, so that it does not matter which serializer Spark uses.
 *
 * @param cores of the driver, which it would read manifests with
 * @param localBytes what a core of the driver reads before a job of Spark is worth its start, in bytes
 */
final private[read] class SparkManifests(
    context: SparkContext,
    modes: PlanningModes,
    table: String,
    cores: Int,
    localBytes: Long = SparkManifests.LocalBytes
) extends ManifestCluster {
  import SparkManifests._

  override def takes(manifests: Vector[ManifestFile]): Boolean = modes.of(manifests.head.content) match {
    case PlanningMode.Local => false
    case PlanningMode.Distributed => true
    case PlanningMode.Auto =>
      context.defaultParallelism > cores && manifests.size > cores &&
      manifests.iterator.map(_.length).sum > cores * localBytes
  }

  override def read(
      manifests: Vector[ManifestFile],
      reading: ManifestReading,
      oldest: Long
  ): Iterator[Array[Byte]] = {
    val shared = context.broadcast(toBytes((reading, oldest)))
    val results = new Array[Array[Byte]](manifests.size)
    val description = Option(context.getLocalProperty(Description))
    context.setLocalProperty(Description, s"Reading ${manifests.size} manifests of $table")
    try {
      val slices = math.min(manifests.size, context.defaultParallelism * TasksPerCore)
      val (parts, firsts) = cut(manifests, slices)
      val tasks = context.parallelize(parts, parts.size)
      context.runJob(
        tasks,
        packedBy(shared),
        parts.indices,
        (part: Int, packed: Array[Array[Byte]]) => System.arraycopy(packed, 0, results, firsts(part), packed.length)
      )
    } finally {
      context.setLocalProperty(Description, description.orNull)
      shared.destroy()
    }
    results.indices.iterator.map { i =>
      val packed = results(i)
      // What was taken can go.
      results(i) = Array.emptyByteArray
      opened(packed)
    }
  }
}

private object SparkManifests {
  private val Description = "spark.job.description"

  private val LocalBytes = 16L << 20
  private val TasksPerCore = 4
  private val Fine: Byte = 0
  private val Failed: Byte = 1

  /** In runs of about the same count, which are a task each. @return what is sent of each, and where it begins */
  private def cut(manifests: Vector[ManifestFile], slices: Int): (Vector[Array[Byte]], Vector[Int]) = {
    val firsts = (0 until slices).map(i => (i.toLong * manifests.size / slices).toInt).toVector
    val runs = firsts.zip(firsts.tail :+ manifests.size).map { case (from, until) => manifests.slice(from, until) }
    (runs.map(run => toBytes(run.map(_.forReading))), firsts)
  }

  private def packedBy(
      shared: Broadcast[Array[Byte]]
  ): (TaskContext, Iterator[Array[Byte]]) => Array[Array[Byte]] = { (_, parts) =>
    val (reading, oldest) = ofBytes[(ManifestReading, Long)](shared.value)
    parts.flatMap(part => ofBytes[Vector[ManifestFile]](part)).map(packed(reading, _, oldest)).toArray
  }

  /** Errors come back as they are, and not as the text of a failed job: they tell what to do. */
  private def packed(reading: ManifestReading, manifest: ManifestFile, oldest: Long): Array[Byte] =
    try Fine +: reading.packed(manifest, oldest)
    catch { case e: IcebergError => Failed +: toBytes(e) }

  private def opened(result: Array[Byte]): Array[Byte] =
    if (result.head == Fine) result.tail else throw ofBytes[IcebergError](result.tail)

  private def toBytes(value: AnyRef): Array[Byte] = {
    val bytes = new ByteArrayOutputStream
    val out = new ObjectOutputStream(bytes)
    out.writeObject(value)
    out.close()
    bytes.toByteArray
  }

  /** By the class loader that has this class: jars that a session adds are not on the class path. */
  private def ofBytes[A](bytes: Array[Byte]): A = {
    val in = new ObjectInputStream(new ByteArrayInputStream(bytes)) {
      override def resolveClass(description: ObjectStreamClass): Class[_] =
        try Class.forName(description.getName, false, SparkManifests.getClass.getClassLoader)
        catch { case _: ClassNotFoundException => super.resolveClass(description) }
    }
    in.readObject().asInstanceOf[A]
  }
}
