package iceberglite.spark.stream.sink

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, ObjectInputStream, ObjectOutputStream}

import scala.collection.JavaConverters._

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.connector.catalog.Identifier
import org.apache.spark.sql.connector.write.streaming.StreamingWrite
import org.apache.spark.sql.connector.write.{DataWriter, LogicalWriteInfo, PhysicalWriteInfo, WriterCommitMessage}
import org.apache.spark.sql.types.{LongType, StructType}
import org.apache.spark.sql.util.CaseInsensitiveStringMap
import org.scalatest.Suite

import iceberglite.spark.session.{LiteCatalog, SharedTable}
import iceberglite.spark.table.IcebergWriteBuilder
import iceberglite.table.{Change, Committer, Table, TableIdentifier, TableVersion}

/**
 * Helpers that call the methods of a micro-batch's write as Spark calls them. A test can change the table between two
 * of the calls. The rows have the columns `id` and `part`.
 */
trait EpochFixture extends SinkFixture { self: Suite =>

  protected def shared(name: String): SharedTable = {
    val parts = name.split('.')
    spark.sessionState.catalogManager.catalog("lite") match {
      case catalog: LiteCatalog => catalog.sharedTable(Identifier.of(Array(parts(1)), parts(2)))
      case other => fail(s"the catalog ${other.name} is not a catalog of iceberg-lite")
    }
  }

  protected def tableOf(name: String): Table = shared(name).current

  final protected class Info(values: Map[String, String], columns: StructType = EpochFixture.Columns)
      extends LogicalWriteInfo {
    override def options: CaseInsensitiveStringMap = new CaseInsensitiveStringMap(values.asJava)
    override def queryId: String = "query"
    override def schema: StructType = columns
  }

  protected def writeTo(table: Table, options: (String, String)*): StreamingWrite =
    writeTo(table, EpochFixture.Columns, options: _*)

  /** Returns the write of rows with the given columns. */
  protected def writeTo(table: Table, columns: StructType, options: (String, String)*): StreamingWrite =
    inSession(spark) { session =>
      val info = new Info(options.toMap, columns)
      IcebergWriteBuilder.of(table, info, session, None, Nil, new SinkMetrics).build().toStreaming
    }

  /**
   * A committer that runs steps of a test between its calls: one after the first load, which precedes the search of an
   * upsert, one before the next load, and one before the first commit.
   */
  final protected class Steps(
      t: String,
      afterLoad: => Unit = (),
      beforeReload: => Unit = (),
      beforeCommit: => Unit = ()
  ) extends Committer {
    private var (loads, commits) = (0, 0)

    /** The metadata locations of the versions that the commits started from. */
    var bases: Vector[String] = Vector.empty

    override def load(id: TableIdentifier): TableVersion = {
      if (loads == 1) beforeReload
      val version = shared(t).load(id)
      loads += 1
      if (loads == 1) afterLoad
      version
    }

    override def commit(id: TableIdentifier, base: Option[TableVersion], change: Change): TableVersion = {
      commits += 1
      bases ++= base.map(_.metadataLocation)
      if (commits == 1) beforeCommit
      shared(t).commit(id, base, change)
    }

    def table: Table = {
      val current = tableOf(t)
      new Table(current.id, current.name, current.version, current.io, this)
    }
  }

  /** Returns a writer that a deserialized copy of the factory creates, as on an executor. */
  protected def writer(write: StreamingWrite, task: Long): DataWriter[InternalRow] = {
    val physical = new PhysicalWriteInfo { override def numPartitions: Int = 1 }
    javaCopy(inSession(spark)(_ => write.createStreamingWriterFactory(physical))).createWriter(0, task, 0)
  }

  private def javaCopy[A](value: A): A = {
    val bytes = new ByteArrayOutputStream
    val out = new ObjectOutputStream(bytes)
    out.writeObject(value)
    out.close()
    new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray)).readObject() match {
      case copy: A @unchecked => copy
    }
  }

  /** Writes the rows of a task. @param part returns the value of `part` for an id */
  protected def put(task: DataWriter[InternalRow], ids: Seq[Int], part: Int => Long = _ % 3L): WriterCommitMessage = {
    ids.foreach(i => task.write(new GenericInternalRow(Array[Any](i.toLong, part(i)))))
    task.commit()
  }

  protected def writeFiles(table: Table, ids: Seq[Int] = 0 until 6): (StreamingWrite, Array[WriterCommitMessage]) = {
    val write = writeTo(table)
    write -> Array(put(writer(write, 7L), ids))
  }
}

private object EpochFixture {
  val Columns: StructType = new StructType().add("id", LongType).add("part", LongType)
}
