package iceberglite.spark.cluster

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, ObjectInputStream, ObjectOutputStream, ObjectStreamClass}

import org.apache.hadoop.util.StringUtils.TraditionalBinaryPrefix
import org.apache.spark.{SparkContext, SparkException}
import org.apache.spark.rdd.RDD

import iceberglite.spark.error.Causes
import iceberglite.spec.IcebergError

/**
 * Runs Spark jobs of the connector outside of queries. Arguments and results of tasks are byte arrays, so that they do
 * not depend on the session's serializer.
 */
private[iceberglite] object ClusterJob {

  /** Spark's local property for the description of a job. */
  private[cluster] val Description = "spark.job.description"
  private val Succeeded: Byte = 0
  private val Failed: Byte = 1

  /** Runs a job with its own description. */
  def withDescription[A](context: SparkContext, description: String)(job: => A): A = {
    val previous = Option(context.getLocalProperty(Description))
    context.setLocalProperty(Description, description)
    try job
    finally context.setLocalProperty(Description, previous.orNull)
  }

  /**
   * Runs work that the driver may do without a Spark job. While the driver does this work, [[JobProgress]] counts each
   * processed metadata file as one task of the activity with this description, in addition to the tasks of Spark jobs.
   */
  def withDriverWork[A](context: SparkContext, description: String)(work: => A): A =
    withDescription(context, description)(JobProgress.reportDriverWork(context, description)(work))

  /**
   * Returns the result of a task as bytes. An [[IcebergError]] does not fail the job; it becomes the result, so that
   * the driver can throw the original error with its message ([[decodeResult]]).
   */
  def encodeResult(bytes: => Array[Byte]): Array[Byte] =
    try Succeeded +: bytes
    catch { case e: IcebergError => Failed +: serialize(e) }

  /** Returns a number of bytes as text, such as `1.5 GB`. */
  def sizeText(bytes: Long): String = TraditionalBinaryPrefix.long2String(bytes, "B", 1)

  /** Returns the bytes of a task's result. @throws IcebergError if the task failed with this error */
  def decodeResult(result: Array[Byte]): Array[Byte] =
    if (result.head == Succeeded) result.tail else throw deserialize[IcebergError](result.tail)

  /** The desired number of tasks per core of the cluster. */
  val TasksPerCore = 4

  /** Distributes items over tasks. Each element of the result is a serialized `Vector` of consecutive items. */
  def distribute[A <: AnyRef](
      context: SparkContext,
      items: Vector[A],
      maxTasks: Int = Int.MaxValue
  ): RDD[Array[Byte]] = {
    val tasks = math.max(1, math.min(math.min(items.size, maxTasks), context.defaultParallelism * TasksPerCore))
    val batches = items.grouped(math.max(1, (items.size + tasks - 1) / tasks)).map(serialize(_)).toVector
    context.parallelize(batches, math.max(1, batches.size))
  }

  /** Runs a job. @throws IcebergError if a task failed with this error; other failures throw Spark's exception */
  def withTaskErrors[A](job: => A): A =
    try job
    catch {
      case e: SparkException =>
        throw Causes.of(e).collectFirst { case error: IcebergError => error }.getOrElse(e)
    }

  def serialize(value: AnyRef): Array[Byte] = {
    val bytes = new ByteArrayOutputStream
    val out = new ObjectOutputStream(bytes)
    out.writeObject(value)
    out.close()
    bytes.toByteArray
  }

  /**
   * Deserializes an object with the class loader of this class. The default class loader may not find the connector's
   * classes if the jar was added to the session with ADD JAR.
   */
  def deserialize[A](bytes: Array[Byte]): A = {
    val in = new ObjectInputStream(new ByteArrayInputStream(bytes)) {
      override def resolveClass(description: ObjectStreamClass): Class[_] =
        try Class.forName(description.getName, false, ClusterJob.getClass.getClassLoader)
        catch { case _: ClassNotFoundException => super.resolveClass(description) }
    }
    in.readObject().asInstanceOf[A]
  }
}
