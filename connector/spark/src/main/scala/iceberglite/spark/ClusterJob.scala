package iceberglite.spark

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, ObjectInputStream, ObjectOutputStream, ObjectStreamClass}

import org.apache.spark.SparkContext

import iceberglite.spec.IcebergError

/**
 * Jobs of Spark of our own, beside queries. What goes back and forth is byte arrays, so that it does not matter which
 * serializer Spark uses.
 */
private[spark] object ClusterJob {
  private val Description = "spark.job.description"
  private val Fine: Byte = 0
  private val Failed: Byte = 1

  /** Runs a job under a description of its own. */
  def described[A](context: SparkContext, description: String)(job: => A): A = {
    val before = Option(context.getLocalProperty(Description))
    context.setLocalProperty(Description, description)
    try job
    finally context.setLocalProperty(Description, before.orNull)
  }

  /** What a task gives back: errors as they are, and not as the text of a failed job, for they tell what to do. */
  def result(bytes: => Array[Byte]): Array[Byte] =
    try Fine +: bytes
    catch { case e: IcebergError => Failed +: toBytes(e) }

  /** @throws IcebergError that the task met */
  def opened(result: Array[Byte]): Array[Byte] =
    if (result.head == Fine) result.tail else throw ofBytes[IcebergError](result.tail)

  def toBytes(value: AnyRef): Array[Byte] = {
    val bytes = new ByteArrayOutputStream
    val out = new ObjectOutputStream(bytes)
    out.writeObject(value)
    out.close()
    bytes.toByteArray
  }

  /** By the class loader that has this class: jars that a session adds are not on the class path. */
  def ofBytes[A](bytes: Array[Byte]): A = {
    val in = new ObjectInputStream(new ByteArrayInputStream(bytes)) {
      override def resolveClass(description: ObjectStreamClass): Class[_] =
        try Class.forName(description.getName, false, ClusterJob.getClass.getClassLoader)
        catch { case _: ClassNotFoundException => super.resolveClass(description) }
    }
    in.readObject().asInstanceOf[A]
  }
}
