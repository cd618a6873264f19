package iceberglite.inspect

import java.io.{BufferedInputStream, BufferedOutputStream, DataInputStream, DataOutputStream}
import java.nio.file.{Files, Path, Paths}
import java.util.concurrent.TimeUnit

import scala.collection.JavaConverters._

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.JvmOptions
import iceberglite.spec.FormatVersion
import iceberglite.spec.json.TableMetadataJson
import iceberglite.table.{Actions, MemoryFileIO, ScriptedCommitter, Table, TableIdentifier, TableVersion, TestTables}
import iceberglite.table.action.{FastAppend, RowDelta}

/** A program that reads metadata tables, and prints a line for each of them. */
object MetadataMemory {

  /** @param args the file with the table's files, of which the last one is its metadata */
  def main(args: Array[String]): Unit = {
    val table = load(Paths.get(args(0)))
    val health = HealthTable.rows(table, table.currentSnapshot).map(_.values.take(2).mkString(" ")).toVector
    println(health.sorted.mkString(", "))
    val groups = PositionDeletesTable
      .groups(table, table.currentSnapshot, RowRequest.all(PositionDeletesTable.schema(table))).get
    println(s"${groups.map(_.estimatedRows).sum} positions")
    val partitions = PartitionsTable.select(table, table.currentSnapshot, RowRequest.all(PartitionsTable.schema(table)))
    println(s"${partitions.map(_.values(3)).map { case n: Int => n }.sum} files of partitions")
    Runtime.getRuntime.halt(0)
  }

  private def load(file: Path): Table = {
    val (store, in) = (new MemoryFileIO, new DataInputStream(new BufferedInputStream(Files.newInputStream(file))))
    val paths = Vector.fill(in.readInt()) {
      val (path, bytes) = (in.readUTF(), new Array[Byte](in.readInt()))
      in.readFully(bytes)
      store.write(path, bytes)
      path
    }
    val metadata = TableMetadataJson.read(paths.last, store.read(paths.last))
    val id = TableIdentifier(Vector("db"), "t")
    new Table(id, "db.t", TableVersion(metadata, paths.last), store, new ScriptedCommitter(store))
  }

  /** Writes the files of a table as the program reads them. */
  def save(file: Path, actions: Actions): Unit = {
    val table = actions.table
    val out = new DataOutputStream(new BufferedOutputStream(Files.newOutputStream(file)))
    val metadata = TableMetadataJson.write(table.metadata)
    val files = actions.store.paths.toVector.filterNot(_.endsWith(".json")).map(p => p -> actions.store.read(p))
    out.writeInt(files.size + 1)
    (files :+ ("mem://t/metadata/last.metadata.json" -> metadata)).foreach { case (path, bytes) =>
      out.writeUTF(path)
      out.writeInt(bytes.length)
      out.write(bytes)
    }
    out.close()
  }
}

class MetadataMemorySuite extends AnyFunSuite {
  private val files = 60000
  private val heap = "80m"

  /**
   * Creates a table in which each data file has its own partition and a deletion vector. The manifests have overlapping
   * ranges of partitions. The deletion vectors are the same bytes of one file.
   */
  private def create(): Actions = {
    val actions = Actions.tableByCategory(FormatVersion.V3)
    def file(i: Int) = TestTables.fileOf(f"${i.toLong * 7919 % files}%08d", s"mem://t/data/$i.parquet")
    val Vector(vector) = actions.vectors("mem://t/data/v.puffin", file(0) -> Seq(1L, 2L))
    (0 until files).grouped(20000).foreach { numbers =>
      val added = numbers.map(file).toVector
      actions.commit(new FastAppend(added))
      val vectors = added.map(f => vector.copy(partition = f.partition, referencedDataFile = Some(f.path)))
      actions.commit(new RowDelta(vectors))
    }
    actions
  }

  test(s"health, position_deletes and partitions of $files files and partitions need less than $heap of memory", Slow) {
    val java = Paths.get(System.getProperty("java.home"), "bin", "java").toString
    val (log, data) = (Files.createTempFile("memory", ".txt"), Files.createTempFile("memory", ".bin"))
    MetadataMemory.save(data, create())
    val command = Seq(java, s"-Xmx$heap", "-XX:+ExitOnOutOfMemoryError") ++ JvmOptions.quickStart ++
      Seq("-cp", System.getProperty("java.class.path"), MetadataMemory.getClass.getName.stripSuffix("$"), data.toString)
    val process = new ProcessBuilder(command.asJava).redirectErrorStream(true).redirectOutput(log.toFile).start()
    try {
      val ended = process.waitFor(240, TimeUnit.SECONDS)
      val output = Files.readAllLines(log).asScala
      assert(ended && process.exitValue == 0, output.mkString("\n").takeRight(3000))
      assert(output.contains(s"${2 * files} positions") && output.contains(s"$files files of partitions"))
      assert(output.exists(_.startsWith("compute_partition_stats false, ")))
    } finally {
      process.destroyForcibly()
      Seq(log, data).foreach(Files.deleteIfExists(_))
    }
  }
}
