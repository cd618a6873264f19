package iceberglite.processes

import java.io.FileReader
import java.util.Properties
import java.util.concurrent.atomic.AtomicInteger

import scala.collection.JavaConverters._

import iceberglite.catalog.FileIOWrapper
import iceberglite.storage.{FileIO, FileInfo}

/** The input and output of writer processes. */
object WriterFiles {

  /** Reads the properties of the catalog from a file. */
  def read(settings: String): Map[String, String] = {
    val properties = new Properties
    val in = new FileReader(settings)
    try properties.load(in)
    finally in.close()
    properties.asScala.toMap
  }

  /** Prints one line for the suite that started the process. */
  def printLine(line: String): Unit = synchronized {
    System.out.println(line.replace('\n', ' '))
    System.out.flush()
  }
}

/**
 * Halts the process at step number `step`, counted from 1. There is a step before and after each call of the methods
 * below, and after each commit.
 */
final class DyingFileIO(inner: FileIO, step: Int) extends FileIOWrapper(inner) {
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
  override def list(directory: String): Vector[FileInfo] = stepping(super.list(directory))
  override def delete(path: String): Unit = stepping(super.delete(path))
  override def replace(path: String, contents: Array[Byte]): Unit = stepping(super.replace(path, contents))

  override def write(path: String, contents: Array[Byte]): Unit = {
    WriterFiles.printLine(s"WRITES $path")
    stepping(super.write(path, contents))
  }

  override def createExclusively(path: String, contents: Array[Byte]): Boolean = {
    WriterFiles.printLine(s"WRITES $path")
    stepping(super.createExclusively(path, contents))
  }
}
