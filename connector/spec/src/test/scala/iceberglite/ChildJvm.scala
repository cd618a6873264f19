package iceberglite

import java.lang.management.ManagementFactory
import java.nio.file.{Files, Paths}
import java.util.concurrent.TimeUnit

import scala.collection.JavaConverters._

/**
 * The end of a program that a test ran in a separate JVM.
 *
 * @param exitCode absent if the program was killed because it did not end in time
 * @param output what the program printed to both streams
 */
final case class ChildJvm(exitCode: Option[Int], output: String) {

  /** The lines of the output of a program that has succeeded. @throws IllegalStateException if it has not */
  def lines: Vector[String] =
    if (exitCode.contains(0)) output.split('\n').toVector
    else {
      val end = exitCode.fold("was killed because it did not end in time")(code => s"ended with exit code $code")
      throw new IllegalStateException(s"The program $end: ${output.takeRight(6000)}")
    }
}

object ChildJvm {
  private val TimeoutSeconds = 240L

  /**
   * Options for programs that run only for seconds: no optimizing compiler (C2), no verification of classes, and no
   * garbage collections that the metaspace triggers before it reaches 256 MiB. Without C2, the default code cache would
   * have only 48 MiB.
   */
  private val Options: Seq[String] = Seq(
    "-XX:TieredStopAtLevel=1",
    "-XX:+UseSerialGC",
    "-XX:ReservedCodeCacheSize=256m",
    "-XX:MetaspaceSize=256m",
    "-XX:+UnlockDiagnosticVMOptions",
    "-XX:-BytecodeVerificationRemote"
  )

  /**
   * The option that ends a program if its memory is exhausted, so that it does not wait for a thread that has failed.
   * Programs in which Spark sorts or joins must not have it, because Spark's memory manager catches the error and
   * continues with less memory.
   */
  val ExitOnOutOfMemory: Seq[String] = Seq("-XX:+ExitOnOutOfMemoryError")

  /**
   * Returns a command that runs a program with the class path of this JVM, and with its access to internal classes.
   *
   * @param program the name of the class with the main method, or of its companion object's class
   * @param heap the maximum size of the heap, as for `-Xmx`
   * @param options more options of the JVM
   */
  def command(
      program: String,
      heap: String,
      arguments: Seq[String],
      options: Seq[String] = Seq.empty
  ): ProcessBuilder = {
    val java = Paths.get(System.getProperty("java.home"), "bin", "java").toString
    val opens = ManagementFactory.getRuntimeMXBean.getInputArguments.asScala.filter(_.startsWith("--add-opens"))
    val words = Seq(java, s"-Xmx$heap") ++ Options ++ options ++ opens ++
      Seq("-cp", System.getProperty("java.class.path"), program.stripSuffix("$")) ++ arguments
    new ProcessBuilder(words.asJava)
  }

  /** Runs a [[command]], and kills it if it does not end within four minutes. */
  def run(program: String, heap: String, arguments: Seq[String], options: Seq[String] = Seq.empty): ChildJvm = {
    val log = Files.createTempFile("child", ".log")
    val process =
      command(program, heap, arguments, options).redirectErrorStream(true).redirectOutput(log.toFile).start()
    try {
      val ended = process.waitFor(TimeoutSeconds, TimeUnit.SECONDS)
      ChildJvm(if (ended) Some(process.exitValue) else None, new String(Files.readAllBytes(log), "UTF-8"))
    } finally {
      process.destroyForcibly()
      Files.deleteIfExists(log)
      ()
    }
  }
}
