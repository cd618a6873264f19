package iceberglite.spark.rowlevel

import java.nio.file.{Files, Paths}
import java.util.Optional
import java.util.concurrent.atomic.AtomicInteger

import scala.collection.JavaConverters._

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.connector.catalog.{Identifier, SupportsRowLevelOperations, Table, TableCatalog}
import org.apache.spark.sql.connector.write._
import org.apache.spark.sql.connector.write.RowLevelOperation.Command
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

/** A program that runs statements one after the other, with up to four attempts of each task. */
object RetryingDriver {

  /** @param args the warehouse, a directory for Spark's files, and a file with statements */
  def main(args: Array[String]): Unit = {
    val Array(warehouse, scratch, file) = args
    val spark = DriverProcess.session("local[2,4]", warehouse, scratch)
    spark.udf.register("fail_first", (id: Long) => failFirst(id))
    Files.readAllLines(Paths.get(file)).asScala.foreach(spark.sql(_))
    spark.stop()
    System.out.println(s"FAILED ${failures.get}")
  }

  private val failures = new AtomicInteger

  /** Fails the first attempt of each task at the last rows of its input, so that the task has already written rows. */
  private def failFirst(id: Long): Long =
    if ((id == 499 || id == 999 || id == 1099) && TaskContext.get.attemptNumber == 0) {
      failures.incrementAndGet()
      throw new IllegalStateException("the first attempt of the task fails")
    } else id
}

/**
 * Checks statements whose tasks are retried, or run twice. No row may be duplicated, and no file of a failed attempt
 * may be committed.
 */
class RetriedTasksSuite extends AnyFunSuite with DriverFixture {

  override protected val statements: Seq[(String, String)] = Seq(
    "insert" -> "INSERT INTO %s SELECT fail_first(id), id % 10 FROM range(1000, 1100)",
    "delete" -> "DELETE FROM %s WHERE fail_first(id) % 10 IN (3, 9)",
    "update" -> "UPDATE %s SET n = fail_first(id) + 100 WHERE n IN (4, 9)",
    "merge" -> ("MERGE INTO %s t USING (SELECT id AS k FROM range(450, 1050)) s ON t.id = s.k " +
      "WHEN MATCHED AND s.k % 2 = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET n = fail_first(t.id) + 1 " +
      "WHEN NOT MATCHED THEN INSERT (id, n) VALUES (s.k, -2)")
  )

  test("failed tasks are retried, and failed attempts leave no files", Slow) {
    spark.udf.register("fail_first", (id: Long) => id)
    val cases = sampled(6, casesIn(namespaces.head))
    cases.foreach(create)
    val program = "iceberglite.spark.rowlevel.RetryingDriver"
    val (exit, output) = DriverProcess.run(program, warehouse, cases.map(_.statement), newDirectory())
    assert(exit == 0, output)
    val failures =
      output.linesIterator.collectFirst { case line if line.startsWith("FAILED ") => line.substring(7).toInt }
    assert(failures.exists(_ >= cases.size), output)
    cases.foreach { c =>
      check(c, expected(c.name)._2)
      assert(orphans(c).isEmpty, c.table)
    }
  }

  private def tableOf(c: Case): Table = {
    val Array(namespace, name) = c.table.split('.')
    spark.sessionState.catalogManager.catalog("dying").asInstanceOf[TableCatalog]
      .loadTable(Identifier.of(Array(namespace), name))
  }

  private val onePartition = new PhysicalWriteInfo { override def numPartitions: Int = 1 }

  test("a task with two successful attempts adds its rows once") {
    val c = Case(namespaces(1), "twice", 2, "copy-on-write", "")
    create(c)
    val rowsBefore = sorted(s"SELECT * FROM dying.${c.table}")
    val info = new ColumnsWriteInfo(new StructType().add("id", "bigint").add("n", "bigint"))
    inSession(spark) { _ =>
      val write = tableOf(c).asInstanceOf[org.apache.spark.sql.connector.catalog.SupportsWrite]
        .newWriteBuilder(info).build().toBatch
      val factory = write.createBatchWriterFactory(onePartition)
      val messages = Seq(7L, 8L).map { attempt =>
        val task = factory.createWriter(0, attempt)
        (2000L until 2010L).foreach(i => task.write(new GenericInternalRow(Array[Any](i, -i))))
        task.commit()
      }
      write.commit(Array(messages(1)))
    }
    check(c, (rowsBefore ++ (2000 until 2010).map(i => s"[$i,-$i]")).sorted)
    assert(orphans(c).size == 1, "files of the attempt that was not committed")
  }

  Seq(2, 3).foreach { version =>
    test(s"a task with two successful attempts deletes its rows once, in version $version") {
      val c = Case(namespaces(2), "twice", version, "merge-on-read", "")
      create(c)
      val rowsToDelete = rows(s"SELECT _file, _pos, id, _spec_id FROM dying.${c.table} WHERE id % 100 = 7")
      inSession(spark) { _ =>
        val operation = tableOf(c).asInstanceOf[SupportsRowLevelOperations]
          .newRowLevelOperationBuilder(DeleteOperation).build().asInstanceOf[SupportsDelta]
        operation.newScanBuilder(CaseInsensitiveStringMap.empty).build().toBatch.planInputPartitions()
        val metadata = StructType(operation.requiredMetadataAttributes.map(a => MetadataTypes(a.fieldNames.head)))
        val write = operation.newWriteBuilder(new ColumnsWriteInfo(new StructType, Some(metadata))).build().toBatch
        val factory = write.createBatchWriterFactory(onePartition)
        val messages = Seq(7L, 8L).map { attempt =>
          val task = factory.createWriter(0, attempt)
          rowsToDelete.foreach(r => task.delete(metadataOf(metadata), idOf(r.getString(0), r.getLong(1))))
          task.commit()
        }
        write.commit(Array(messages.head))
      }
      check(c, (0 until 1000).filter(_ % 100 != 7).map(i => s"[$i,${i % 10}]").sorted)
      // In version 3, tasks write no delete files: they send small deletion vectors to the driver.
      assert(orphans(c).nonEmpty == (version == 2), "files of the attempt that was not committed")
      assert(rows(s"SELECT sum(record_count) FROM dying.${c.table}.delete_files").head.getLong(0) == rowsToDelete.size)
    }
  }

  private object DeleteOperation extends RowLevelOperationInfo {
    override def command: Command = Command.DELETE
    override def options: CaseInsensitiveStringMap = CaseInsensitiveStringMap.empty
  }

  private val MetadataTypes = new StructType().add("_spec_id", "int").add("_partition", new StructType)
    .add("_row_id", "bigint")

  private def metadataOf(columns: StructType): InternalRow = new GenericInternalRow(columns.fieldNames.map {
    case "_spec_id" => 0
    case "_partition" => new GenericInternalRow(Array.empty[Any])
    case _ => null
  }.toArray[Any])

  private def idOf(file: String, position: Long): InternalRow =
    new GenericInternalRow(Array[Any](UTF8String.fromString(file), position))

  final private class ColumnsWriteInfo(columns: StructType, metadata: Option[StructType] = None)
      extends LogicalWriteInfo {
    override def options: CaseInsensitiveStringMap = CaseInsensitiveStringMap.empty
    override def queryId: String = "query"
    override def schema: StructType = columns
    override def rowIdSchema: Optional[StructType] =
      Optional.of(new StructType().add("_file", "string").add("_pos", "bigint"))
    override def metadataSchema: Optional[StructType] = metadata.fold(Optional.empty[StructType])(Optional.of(_))
  }
}
