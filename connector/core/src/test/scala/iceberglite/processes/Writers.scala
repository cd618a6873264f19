package iceberglite.processes

import java.io.{BufferedReader, FileWriter, InputStreamReader}
import java.nio.file.{Files, Path}
import java.util.Properties
import java.util.concurrent.{ConcurrentLinkedQueue, TimeUnit}

import scala.collection.JavaConverters._
import scala.util.Random

import org.apache.hadoop.conf.Configuration

import iceberglite.ChildJvm
import iceberglite.storage.{FileIO, HadoopFileIO, StorageSettings}
import iceberglite.table.TableIdentifier

/**
 * The output of a writer process.
 *
 * @param died whether the process halted itself or was killed
 */
final case class WriterOutput(writer: String, lines: Vector[String], died: Boolean) {
  private def textAfter(word: String): Vector[String] =
    lines.filter(_.startsWith(word + " ")).map(_.substring(word.length + 1))

  def begun: Set[String] = textAfter("BEGIN").toSet
  def done: Set[String] = textAfter("DONE").toSet
  def failed: Set[String] = textAfter("FAILED").map(_.takeWhile(_ != ' ')).toSet
  def written: Set[String] = textAfter("WRITES").toSet
}

/**
 * Runs several processes that write to one table or view, and kills some of them.
 *
 * @param program the name of the class whose `main` is [[WriterProcess]] or has the same arguments and output
 */
final class Writers(
    settings: Map[String, String],
    directory: Path,
    random: Random,
    program: String = "iceberglite.processes.WriterProcess"
) {
  private val Timeout = 180L
  private val ended = new ConcurrentLinkedQueue[WriterOutput]
  private val failures = new ConcurrentLinkedQueue[Throwable]

  private val properties: Path = {
    val file = directory.resolve("writer.properties")
    val writerProperties = new Properties
    settings.foreach { case (key, value) => writerProperties.setProperty(key, value) }
    val out = new FileWriter(file.toFile)
    try writerProperties.store(out, null)
    finally out.close()
    file
  }

  /** @return the output of all processes, including the replacements of processes that died */
  def run(count: Int, commits: Int): Vector[WriterOutput] = {
    val threads = (1 to count).map { n =>
      val plan = Writers.plans(n % Writers.plans.size)(random)
      val thread = new Thread(() =>
        try work(s"w$n", commits, plan)
        catch { case failure: Throwable => failures.add(failure) }
      )
      thread.start()
      thread
    }
    threads.foreach(_.join())
    failures.asScala.headOption.foreach(failure => throw failure)
    ended.asScala.toVector
  }

  /** Runs a writer. If it dies, runs one replacement, which is not killed. */
  private def work(writer: String, commits: Int, plan: Writers.Plan): Unit = {
    val output = runProcess(writer, commits, plan)
    ended.add(output)
    if (output.died) ended.add(runProcess(s"$writer-again", commits, Writers.Survives))
  }

  private def runProcess(writer: String, commits: Int, plan: Writers.Plan): WriterOutput = {
    val step = plan match {
      case Writers.DiesAtStep(n) => n
      case _ => 0
    }
    val arguments = Seq(properties.toString, writer, commits.toString, step.toString)
    val log = directory.resolve(s"$writer.log")
    val process = ChildJvm.command(program, "256m", arguments).redirectError(log.toFile).start()
    try {
      val lines = Writers.follow(process, plan)
      if (!process.waitFor(Timeout, TimeUnit.SECONDS)) {
        throw new IllegalStateException(s"The writer $writer did not end within $Timeout s. See $log")
      }
      val killed = process.exitValue == Writers.Killed
      if (process.exitValue != 0 && !killed) {
        val output = Files.readString(log)
        throw new IllegalStateException(s"The writer $writer ended with exit code ${process.exitValue}: $output")
      }
      WriterOutput(writer, lines, killed)
    } finally {
      process.destroyForcibly()
      ()
    }
  }
}

object Writers {
  val Id: TableIdentifier = TableIdentifier(Vector("killed_writers"), "t")

  /** Returns the storage for a catalog with the given properties, configured as in a Spark session. */
  def storage(properties: Map[String, String]): FileIO =
    new HadoopFileIO(StorageSettings.configuration(new Configuration, properties))

  /** Exit code of a process that was killed by signal 9, or that halted itself with the same exit code. */
  val Killed = 137

  sealed trait Plan
  case object Survives extends Plan

  /** The writer halts at the step with the given number: before or after a storage call, or after a commit. */
  final case class DiesAtStep(step: Int) extends Plan

  /** The writer is killed `afterMs` milliseconds after it began the commit with the given number, counted from 1. */
  final case class IsKilled(commit: Int, afterMs: Int) extends Plan

  /** The plans are assigned to the writers in turn. Three of eight writers halt, three are killed, and two survive. */
  private val plans: Vector[Random => Plan] = Vector(
    _ => Survives,
    random => DiesAtStep(1 + random.nextInt(60)),
    random => IsKilled(1 + random.nextInt(4), random.nextInt(30)),
    random => DiesAtStep(1 + random.nextInt(25)),
    random => IsKilled(1 + random.nextInt(8), random.nextInt(5)),
    _ => Survives,
    random => DiesAtStep(20 + random.nextInt(80)),
    random => IsKilled(2, random.nextInt(60))
  )

  private def follow(process: Process, plan: Plan): Vector[String] = {
    val out = new BufferedReader(new InputStreamReader(process.getInputStream, "UTF-8"))
    val lines = Vector.newBuilder[String]
    var begun = 0
    Iterator.continually(out.readLine()).takeWhile(_ != null).foreach { line =>
      lines += line
      if (line.startsWith("BEGIN ")) begun += 1
      plan match {
        case IsKilled(commit, afterMs) if commit == begun && line.startsWith("BEGIN ") =>
          Thread.sleep(afterMs.toLong)
          // `process.destroyForcibly` would also close the pipe, and the last lines of the output would be lost.
          process.toHandle.destroyForcibly()
        case _ => ()
      }
    }
    lines.result()
  }
}
