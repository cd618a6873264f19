package iceberglite.spec

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, ObjectInputStream, ObjectOutputStream}

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.IcebergError._
import iceberglite.spec.metadata.Operation
import iceberglite.spec.property._

/** Tests Java serialization, by which Spark sends the errors of tasks to the driver, and settings to the tasks. */
class SerializationSuite extends AnyFunSuite {
  private def copyOf[A](value: A): A = {
    val bytes = new ByteArrayOutputStream
    new ObjectOutputStream(bytes).writeObject(value)
    new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray)).readObject().asInstanceOf[A]
  }

  private def check(values: Any*): Unit = values.foreach(value => assert(copyOf(value) == value))

  test("errors are the same after serialization") {
    check(
      NotFound(ObjectKind.Table, "db.t", "Create it"),
      AlreadyExists(ObjectKind.PartitionField, "day", "Choose another name"),
      InvalidArgument("argument table", "t", "It must be a name"),
      Unsupported("a table", "Use another")
    )
  }

  test("formats, operations and settings are the same objects after serialization") {
    check(
      FormatVersion.V3,
      Operation.Append,
      IsolationLevel.Snapshot,
      DistributionMode.Hash,
      ParquetCompression.Zstd,
      AvroCompression.Gzip,
      MetadataCompression.Gzip,
      OrcCompression.Zlib
    )
  }
}
