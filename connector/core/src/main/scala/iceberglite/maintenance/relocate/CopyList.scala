package iceberglite.maintenance.relocate

import java.io.{BufferedWriter, OutputStreamWriter}
import java.nio.charset.StandardCharsets.UTF_8
import java.util.concurrent.ConcurrentHashMap

import scala.collection.JavaConverters._

import iceberglite.storage.{DataOutput, FileIO}

/**
 * The files that must be copied to the new location of a table. The list contains each file once, identified by its
 * path in the table. Thread-safe.
 *
 * @param prefixes determines the paths in the new location
 * @param writePath returns the path of the rewritten copy of a file
 */
final private[relocate] class CopyList(prefixes: PathPrefixes, writePath: String => String) {
  private val unchanged = ConcurrentHashMap.newKeySet[String]
  private val rewritten = ConcurrentHashMap.newKeySet[String]

  /** Adds a file whose content stays the same. */
  def addUnchanged(path: String): Unit = {
    unchanged.add(path)
    ()
  }

  /** Adds a file that was rewritten. The list names the rewritten copy as the file to copy. */
  def addRewritten(path: String): Unit = {
    rewritten.add(path)
    ()
  }

  /** Writes a line `source,target` for each file, in no particular order. */
  def write(io: FileIO, path: String): Unit = {
    val writer = new BufferedWriter(new OutputStreamWriter(DataOutput.of(io, path).create(0L), UTF_8))
    def line(source: String, file: String): Unit =
      writer.write(s"${CopyList.field(source)},${CopyList.field(prefixes("file", file))}\n")
    try {
      rewritten.asScala.foreach(file => line(writePath(file), file))
      unchanged.asScala.foreach(file => line(file, file))
    } finally writer.close()
  }
}

private object CopyList {

  /** Returns a field of a CSV file. Only a field with a special character is quoted (RFC 4180). */
  private def field(text: String): String =
    if (text.exists(c => c == ',' || c == '"' || c == '\n' || c == '\r')) "\"" + text.replace("\"", "\"\"") + "\""
    else text
}
