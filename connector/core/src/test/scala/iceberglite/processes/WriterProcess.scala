package iceberglite.processes

import java.io.FileReader
import java.util.Properties
import java.util.concurrent.atomic.AtomicInteger

import scala.collection.JavaConverters._

import iceberglite.catalog.{Catalogs, FileIOWrapper}
import iceberglite.spec.IcebergError
import iceberglite.spec.IcebergError.CommitStateUnknown
import iceberglite.storage.FileIO
import iceberglite.table.{Environment, TestTables}
import iceberglite.table.action.FastAppend

/**
 * A program that appends to a table, and may halt at any step of a commit. It prints a line before it writes a file
 * (`WRITES`), at the start of each commit (`BEGIN`), and at the end of the commit (`DONE`, `FAILED` or `UNKNOWN`). If
 * the last line is missing, the outcome of the commit is unknown.
 */
object WriterProcess {

  /**
   * @param args the path of the file with the catalog's properties, the name of the writer, the number of commits, and
   *   the number of the step at which the program halts, counted from 1; 0 if the program does not halt
   */
  def main(args: Array[String]): Unit = {
    val Array(settings, writer, commits, step) = args
    val properties = read(settings)
    val dying = new DyingFileIO(Writers.storage(properties), step.toInt)
    val catalog = Catalogs.open("lite", properties, dying, Environment.system)
    printLine("READY")
    (1 to commits.toInt).foldLeft(catalog.table(Writers.Id)) { (table, i) =>
      val path = s"$writer-$i"
      printLine(s"BEGIN $path")
      try {
        val committed = table.transaction().add(new FastAppend(Vector(TestTables.file(path)))).commit()
        dying.step()
        printLine(s"DONE $path")
        committed
      } catch {
        case unknown: CommitStateUnknown =>
          printLine(s"UNKNOWN $path ${unknown.getMessage}")
          catalog.table(Writers.Id)
        case failure: IcebergError =>
          printLine(s"FAILED $path ${failure.getMessage}")
          catalog.table(Writers.Id)
      }
    }
    catalog.close()
    printLine("END")
    // Background threads of a client must not keep the process alive.
    System.exit(0)
  }

  private def read(settings: String): Map[String, String] = {
    val properties = new Properties
    val in = new FileReader(settings)
    try properties.load(in)
    finally in.close()
    properties.asScala.toMap
  }

  private def printLine(line: String): Unit = synchronized {
    System.out.println(line.replace('\n', ' '))
    System.out.flush()
  }

  /** Halts the process at step number `step`, counted from 1. There is a step before and after each storage call. */
  final private class DyingFileIO(inner: FileIO, step: Int) extends FileIOWrapper(inner) {
    private val steps = new AtomicInteger

    /** Counts a step, and halts the process at the chosen step. As with `kill -9`, no finally block runs. */
    def step(): Unit = if (steps.incrementAndGet() == step) Runtime.getRuntime.halt(137)

    private def stepping[A](call: => A): A = {
      step()
      val result = call
      step()
      result
    }

    override def read(path: String): Array[Byte] = stepping(super.read(path))
    override def exists(path: String): Boolean = stepping(super.exists(path))
    override def delete(path: String): Unit = stepping(super.delete(path))
    override def replace(path: String, contents: Array[Byte]): Unit = stepping(super.replace(path, contents))

    override def write(path: String, contents: Array[Byte]): Unit = {
      printLine(s"WRITES $path")
      stepping(super.write(path, contents))
    }

    override def createExclusively(path: String, contents: Array[Byte]): Boolean = {
      printLine(s"WRITES $path")
      stepping(super.createExclusively(path, contents))
    }
  }
}
