package iceberglite.spark.write

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, ObjectInputStream, ObjectOutputStream}

import org.apache.spark.serializer.KryoSerializer
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.connector.catalog.Identifier
import org.apache.spark.sql.connector.write.{BatchWrite, DataWriter, LogicalWriteInfo, PhysicalWriteInfo}
import org.apache.spark.sql.connector.write.WriterCommitMessage
import org.apache.spark.sql.types.{LongType, StructType}
import org.apache.spark.sql.util.CaseInsensitiveStringMap
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.InEveryRun
import iceberglite.spark.error.{Causes, OperationError, StatementError}
import iceberglite.spark.session.LiteCatalog
import iceberglite.spark.table.IcebergWriteBuilder
import iceberglite.spec.IcebergError.{CommitStateUnknown, ValidationFailed}
import iceberglite.table._

/** Calls the methods of a batch write in the order in which Spark calls them, and checks the files that remain. */
class IcebergBatchWriteSuite extends AnyFunSuite with WriteFixture {

  test("after a commit with an unknown outcome, no file is removed") {
    val t = partitioned()
    val unknown = CommitStateUnknown(t, Some("v2.metadata.json"), "the answer was lost", None)
    val (write, messages) = writeFiles(failingTable(tableOf(t), unknown))
    assert(intercept[OperationError](write.commit(messages)).getCause == unknown)
    write.abort(messages)
    assert(dataFilesOf(t).size == 3)
  }

  test("after an unexpected error, no file is removed, because the commit may have succeeded", Slow, InEveryRun) {
    val t = partitioned()
    Seq(new OutOfMemoryError("no heap"), new InterruptedException).foreach { error =>
      val filesBefore = dataFilesOf(t).size
      val (write, messages) = writeFiles(failingTable(tableOf(t), error))
      val thrown = intercept[Throwable](write.commit(messages))
      assert(Causes.of(thrown).contains(error))
      // The commit has set the interrupt flag of this thread, which would affect the rest of the test.
      Thread.interrupted()
      write.abort(messages)
      assert(dataFilesOf(t).size == filesBefore + 3)
    }
  }

  test("after a commit that definitely failed, all data files are removed") {
    val t = partitioned()
    val (write, messages) = writeFiles(failingTable(tableOf(t), ValidationFailed("not allowed")))
    assert(intercept[StatementError](write.commit(messages)).getMessage.contains("not allowed"))
    assert(dataFilesOf(t).size == 3)
    write.abort(messages)
    assert(dataFilesOf(t).isEmpty)
  }

  test("an abort removes the files of tasks without a commit message, but no files of other writes") {
    val t = partitioned()
    val (_, _) = writeFiles(tableOf(t))
    val write = writeTo(tableOf(t))
    put(writer(write, 0, 7L), 0 until 6)
    assert(dataFilesOf(t).size == 6)
    write.abort(Array(null))
    assert(dataFilesOf(t).size == 3)
  }

  test("two attempts of a task use different file names, and an aborted attempt removes only its own files") {
    val t = partitioned()
    val write = writeTo(tableOf(t))
    val (first, second) = (writer(write, 0, 7L), writer(write, 0, 8L))
    val firstMessage = put(first, 0 until 6)
    put(second, 0 until 6)
    assert(dataFilesOf(t).size == 6)
    second.abort()
    second.close()
    assert(dataFilesOf(t).size == 3)
    write.commit(Array(firstMessage))
    assert(rows(s"SELECT count(*) FROM ${inApacheIceberg(t)}").head.getLong(0) == 6)
  }

  test("an aborted task removes its files") {
    val t = partitioned()
    val task = writer(writeTo(tableOf(t)), 0, 7L)
    (0 until 6).foreach(i => task.write(row(i)))
    assert(dataFilesOf(t).size == 3)
    task.abort()
    task.close()
    assert(dataFilesOf(t).isEmpty)
  }

  test("a task reports the number of files, rows and bytes that it has written") {
    val t = partitioned()
    val task = writer(writeTo(tableOf(t)), 0, 7L)
    (0 until 6).foreach(i => task.write(row(i)))
    def metrics = task.currentMetricsValues.map(m => m.name -> m.value).toMap
    assert(metrics("addedDataFiles") == 3 && metrics("addedRecords") == 6 && metrics("addedFileSizeInBytes") == 0)
    task.commit()
    assert(metrics("addedFileSizeInBytes") == dataFilesOf(t).toSeq.map(java.nio.file.Files.size).sum)
    val supported = new IcebergWriteBuilder(tableOf(t), infoOf(longs), spark, None, Nil).build().supportedCustomMetrics
    assert(supported.map(_.name).toSet == metrics.keySet)
  }

  test("commit messages of tasks can be serialized with Java serialization and Kryo") {
    val t = newTable()
    sql(s"CREATE TABLE $t (id BIGINT, part BINARY) USING iceberg PARTITIONED BY (part)")
    val write = writeTo(tableOf(t), new StructType().add("id", "bigint").add("part", "binary"))
    val task = writer(write, 0, 1L)
    task.write(new GenericInternalRow(Array[Any](5L, Array[Byte](1, 2))))
    task.write(new GenericInternalRow(Array[Any](6L, null)))
    val kryo = new KryoSerializer(spark.sparkContext.getConf).newInstance()
    val message = kryo.deserialize[WriterCommitMessage](kryo.serialize[WriterCommitMessage](javaCopy(task.commit())))
    write.commit(Array(message))
    assert(sorted(s"SELECT id, hex(part) FROM ${inApacheIceberg(t)}") == Seq("[5,0102]", "[6,null]"))
  }

  private def partitioned(): String = {
    val t = newTable()
    sql(s"CREATE TABLE $t (id BIGINT, part BIGINT) USING iceberg PARTITIONED BY (part)")
    t
  }

  private def tableOf(name: String): Table = {
    val parts = name.split('.')
    spark.sessionState.catalogManager.catalog("lite") match {
      case catalog: LiteCatalog => catalog.sharedTable(Identifier.of(Array(parts(1)), parts(2))).current
      case other => fail(s"the catalog ${other.name} is not a catalog of iceberg-lite")
    }
  }

  /** Returns the table with a committer that fails with the given error. */
  private def failingTable(table: Table, error: Throwable): Table = {
    val committer = new Committer {
      override def commit(id: TableIdentifier, base: Option[TableVersion], change: Change): TableVersion = throw error
      override def load(id: TableIdentifier): TableVersion = table.version
    }
    new Table(table.id, table.name, table.version, table.io, committer)
  }

  private val longs = new StructType().add("id", LongType).add("part", LongType)

  private def infoOf(columns: StructType): LogicalWriteInfo = new LogicalWriteInfo {
    override def options: CaseInsensitiveStringMap = CaseInsensitiveStringMap.empty
    override def queryId: String = "query"
    override def schema: StructType = columns
  }

  private def writeTo(table: Table, columns: StructType = longs): BatchWrite =
    new IcebergWriteBuilder(table, infoOf(columns), spark, None, Nil).build().toBatch

  /** Returns a writer that a deserialized copy of the factory creates, as on an executor. */
  private def writer(write: BatchWrite, partition: Int, task: Long): DataWriter[InternalRow] = {
    val physical = new PhysicalWriteInfo { override def numPartitions: Int = 1 }
    javaCopy(write.createBatchWriterFactory(physical)).createWriter(partition, task)
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

  private def row(i: Int): InternalRow = new GenericInternalRow(Array[Any](i.toLong, i % 3L))

  private def put(task: DataWriter[InternalRow], ids: Range): WriterCommitMessage = {
    ids.foreach(i => task.write(row(i)))
    task.commit()
  }

  /** Writes three files that are not committed yet. */
  private def writeFiles(table: Table): (BatchWrite, Array[WriterCommitMessage]) = {
    val write = writeTo(table)
    val task = writer(write, 0, 1L)
    val message = put(task, 0 until 6)
    task.close()
    (write, Array(message))
  }
}
