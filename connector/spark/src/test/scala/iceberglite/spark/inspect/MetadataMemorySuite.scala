package iceberglite.spark.inspect

import java.nio.file.{Files, Paths}

import scala.collection.JavaConverters._

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.connector.catalog.{Identifier, TableCatalog}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.ChildJvm
import iceberglite.puffin.{DeletedRows, DeletionVector, DeletionVectorFiles}
import iceberglite.spark.{SharedSession, SparkCatalog}
import iceberglite.spark.table.SparkTable
import iceberglite.table.{Table, TestTables}
import iceberglite.table.action.{FastAppend, RowDelta}

/** A program that runs queries on metadata tables, and prints a line with the rows of each query. */
object MetadataMemory {
  val Catalog = "memory"

  /** @param args the warehouse, a directory for Spark's files, and a file with a query in each line */
  def main(args: Array[String]): Unit = {
    val Array(warehouse, scratch, queries) = args
    val conf = SharedSession.catalogConf(Catalog, classOf[SparkCatalog].getName, "type" -> "hadoop") ++ Map(
      s"spark.sql.catalog.$Catalog.warehouse" -> warehouse,
      "spark.ui.enabled" -> "false",
      "spark.local.dir" -> scratch,
      "spark.sql.warehouse.dir" -> s"$scratch/spark-warehouse",
      "spark.sql.shuffle.partitions" -> "2",
      // Spark does not start with less than 450 MB of memory otherwise.
      "spark.testing.reservedMemory" -> (16 << 20).toString
    )
    val spark = conf.foldLeft(SparkSession.builder().master("local[2]")) { case (b, (k, v)) => b.config(k, v) }
      .getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    Files.readAllLines(Paths.get(queries)).asScala.foreach { query =>
      val rows = spark.sql(query).collect().map(_.mkString(",")).sorted
      println(rows.mkString("ROWS ", ";", ""))
    }
    Runtime.getRuntime.halt(0)
  }
}

/** Reads the metadata tables of a table with many files, partitions and deletion vectors in a JVM with a small heap. */
class MetadataMemorySuite extends AnyFunSuite with SharedSession {
  private val files = 100000
  private val heap = "160m"
  private val category = (i: Int) => f"c${i.toLong * 7919 % files}%08d"

  private def load(name: String): Table = {
    val Array(catalog, namespace, last) = name.split('.')
    spark.sessionState.catalogManager.catalog(catalog).asInstanceOf[TableCatalog]
      .loadTable(Identifier.of(Array(namespace), last)).asInstanceOf[SparkTable].table
  }

  /**
   * Creates the metadata of a table in which each data file has its own partition and a deletion vector. The manifests
   * have overlapping ranges of partitions. The deletion vectors are the same bytes of one Puffin file.
   */
  private def create(): String = {
    val name = newTable("many")
    sql(s"CREATE TABLE $name (id BIGINT NOT NULL, category STRING) USING iceberg PARTITIONED BY (category) " +
      "TBLPROPERTIES ('format-version' = '3')")
    val start = load(name)
    val path = s"${start.location}/data"
    val data = (0 until files).iterator.map(i => TestTables.fileOf(category(i), s"$path/category=$i/$i.parquet"))
    val first = TestTables.fileOf(category(0), s"$path/category=0/0.parquet")
    val deleted = DeletedRows(first.path, 0, first.partition, DeletionVector.of(1L, 2L))
    val Vector(vector) = DeletionVectorFiles.write(start.io, s"$path/vectors.puffin", Seq(deleted))
    data.grouped(files / 4).foreach { chunk =>
      load(name).transaction().add(new FastAppend(chunk.toVector)).commit()
      val vectors = chunk.map(f => vector.copy(partition = f.partition, referencedDataFile = Some(f.path)))
      load(name).transaction().add(new RowDelta(vectors.toVector)).commit()
    }
    name
  }

  /** Runs queries on the table in another JVM. */
  private def run(name: String, queries: Seq[String]): Seq[String] = {
    val scratch = newDirectory()
    val table = s"${MetadataMemory.Catalog}.${name.split('.').tail.mkString(".")}"
    val lines = Files.write(scratch.resolve("queries"), queries.map(_.replace("$t", table)).asJava)
    val arguments = Seq(SharedSession.warehouse.toUri.toString, scratch.toString, lines.toString)
    val output = ChildJvm.run(MetadataMemory.getClass.getName, heap, arguments, ChildJvm.ExitOnOutOfMemory).lines
    output.filter(_.startsWith("ROWS ")).map(_.stripPrefix("ROWS "))
  }

  test(s"metadata tables of $files files, partitions and deletion vectors are read with a heap of $heap", Slow) {
    val one = category(5)
    val expected = Seq(
      "SELECT count(*), sum(record_count), count(DISTINCT content), max(length(file_path)) > 0 FROM $t.files" ->
        s"${2 * files},${12L * files},2,true",
      s"SELECT content, record_count FROM $$t.files WHERE partition.category = '$one'" -> "0,10;1,2",
      "SELECT count(*), count(DISTINCT status), max(data_file.file_path) IS NULL FROM $t.entries" ->
        s"${2 * files},1,false",
      "SELECT count(*), count(DISTINCT partition), sum(file_count), sum(position_delete_record_count), " +
        "count(last_updated_at) FROM $t.partitions" -> s"$files,$files,$files,${2L * files},$files",
      s"SELECT file_count, position_delete_file_count FROM $$t.partitions WHERE partition.category = '$one'" -> "1,1",
      "SELECT sum(added_data_files_count), sum(added_delete_files_count) FROM $t.manifests" -> s"$files,$files",
      "SELECT count(*), sum(record_count) FROM $t.all_files" -> s"${2 * files},${12L * files}",
      "SELECT count(*), count(DISTINCT status) FROM $t.all_entries" -> s"${2 * files},1",
      "SELECT count(*), count(DISTINCT path) FROM $t.all_manifests" -> "36,8",
      "SELECT max(measures['data_files']), max(measures['delete_files']), max(measures['dangling_delete_files']) " +
        "FROM $t.health" -> s"$files,$files,0",
      s"SELECT pos FROM $$t.position_deletes WHERE partition.category = '$one'" -> "1;2",
      "SELECT count(*) FROM $t.position_deletes WHERE partition.category < 'c00000200'" -> "400"
    )
    val found = run(create(), expected.map(_._1))
    assert(found == expected.map(_._2))
  }
}
