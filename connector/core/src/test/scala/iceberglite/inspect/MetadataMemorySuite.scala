package iceberglite.inspect

import java.io.{BufferedInputStream, BufferedOutputStream, DataInputStream, DataOutputStream}
import java.nio.file.{Files, Path, Paths}

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.ChildJvm
import iceberglite.spec.FormatVersion
import iceberglite.spec.json.TableMetadataJson
import iceberglite.table.{Actions, MemoryFileIO, ScriptedCommitter, Table, TableIdentifier, TableVersion, TestTables}
import iceberglite.table.action.{FastAppend, RowDelta}

/** A program that reads all rows of all metadata tables, and prints a line for each table. */
object MetadataMemory {

  /** @param args the file with the table's files, of which the last one is its metadata */
  def main(args: Array[String]): Unit = {
    val table = load(Paths.get(args(0)))
    MetadataTables.all.filterNot(Set[MetadataTable](HealthTable, PartitionsTable)).foreach { metadata =>
      val all = RowRequest.all(metadata.schema(table))
      val rows = metadata.select(table, table.currentSnapshot, all.copy(columns = all.columns.take(3)))
      println(s"${metadata.name} ${rows.size}")
    }
    val health = HealthTable.rows(table, table.currentSnapshot).map(_.values.take(2).mkString(" ")).toVector
    println(health.sorted.mkString(", "))
    val files = PartitionsTable.rows(table, table.currentSnapshot).map(_.values(3)).map { case n: Int => n }.toVector
    println(s"${files.size} partitions, ${files.sum} files of partitions")
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
   * ranges of partitions. The deletion vectors are the same bytes of one file, and are in three manifests.
   *
   * @param manifests the number of manifests with data files
   */
  private def create(manifests: Int): Actions = {
    val actions = Actions.tableByCategory(FormatVersion.V3, "commit.manifest-merge.enabled" -> "false")
    def file(i: Int) = TestTables.fileOf(f"${i.toLong * 7919 % files}%08d", s"mem://t/data/$i.parquet")
    val Vector(vector) = actions.vectors("mem://t/data/v.puffin", file(0) -> Seq(1L, 2L))
    (0 until files).grouped(files / manifests).foreach(i => actions.commit(new FastAppend(i.map(file).toVector)))
    (0 until files).map(file).grouped(files / 3).foreach { deleted =>
      val vectors = deleted.map(f => vector.copy(partition = f.partition, referencedDataFile = Some(f.path)))
      actions.commit(new RowDelta(vectors.toVector))
    }
    actions
  }

  for (manifests <- Seq(3, 300))
    test(s"all metadata tables of $files files and partitions in $manifests manifests need less than $heap", Slow) {
      val data = Files.createTempFile("memory", ".bin")
      val actions = create(manifests)
      MetadataMemory.save(data, actions)
      val output =
        try ChildJvm.run(MetadataMemory.getClass.getName, heap, Seq(data.toString), ChildJvm.ExitOnOutOfMemory).lines
        finally {
          Files.deleteIfExists(data)
          ()
        }
      val snapshots = manifests + 3
      val expected = Seq(
        "files" -> 2 * files,
        "data_files" -> files,
        "delete_files" -> files,
        "all_files" -> 2 * files,
        "all_data_files" -> files,
        "all_delete_files" -> files,
        "entries" -> 2 * files,
        "all_entries" -> 2 * files,
        "manifests" -> snapshots,
        "all_manifests" -> snapshots * (snapshots + 1) / 2,
        "position_deletes" -> 2 * files,
        "snapshots" -> snapshots
      ).map { case (name, rows) => s"$name $rows" } :+ s"$files partitions, $files files of partitions"
      assert(expected.filterNot(output.contains).isEmpty)
      assert(output.exists(_.startsWith("compute_partition_stats false, ")))
    }
}
