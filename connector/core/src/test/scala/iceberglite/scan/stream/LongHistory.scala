package iceberglite.scan.stream

import java.io.BufferedWriter
import java.nio.file.{Files, Path}

/** The metadata of a table with many commits. */
private[iceberglite] object LongHistory {

  /** What a commit does. The number of a commit is the id of its snapshot. */
  sealed abstract class Kind(val operation: String)

  /** Appends one file. */
  case object Append extends Kind("append")

  /** Adds a snapshot, but no file, as an append without rows does. */
  case object EmptyAppend extends Kind("append")

  /** Replaces a file by another one with the same rows. */
  case object Compaction extends Kind("replace")

  /** Replaces only manifests. */
  case object RewrittenManifests extends Kind("replace")

  /** Removes a file. */
  case object Delete extends Kind("delete")

  /** Returns the kind of a commit of a table with commits of all kinds, six of ten of which append a file. */
  def mixed(commit: Int): Kind = commit % 10 match {
    case 3 => Compaction
    case 5 => Delete
    case 7 => RewrittenManifests
    case 8 => EmptyAppend
    case _ => Append
  }

  private def summary(kind: Kind): String = {
    val addsFile = kind == Append || kind == Compaction
    val entries = ("operation" -> kind.operation) +: Entries.filter(addsFile || !_._1.startsWith("added-"))
    entries.map { case (key, value) => s""""$key": "$value"""" }.mkString("{", ", ", "}")
  }

  private val Entries = Seq(
    "spark.app.id" -> "app-20261126213911-0001",
    "added-data-files" -> "1",
    "added-records" -> "1000",
    "added-files-size" -> "123456",
    "changed-partition-count" -> "1",
    "total-records" -> "100000000",
    "total-files-size" -> "12345678901",
    "total-data-files" -> "100000",
    "total-delete-files" -> "0",
    "total-position-deletes" -> "0",
    "total-equality-deletes" -> "0",
    "spark.sql.streaming.queryId" -> "6b0e1d9c-2f5d-4a0e-9c53-2f3a4b5c6d7e",
    "spark.sql.streaming.epochId" -> "99999",
    "engine-name" -> "spark",
    "engine-version" -> "3.5.7"
  )

  /**
   * Writes the metadata file of a table at a location.
   *
   * @param kindOf the kind of each commit
   */
  def write(count: Int, location: String, file: Path, kindOf: Int => Kind = _ => Append): Unit = {
    val out = Files.newBufferedWriter(file)
    try writeTo(out, count, location, kindOf)
    finally out.close()
  }

  private def writeTo(out: BufferedWriter, count: Int, location: String, kindOf: Int => Kind): Unit = {
    def writeAll(name: String)(element: Int => String): Unit = (1 to count).foreach { i =>
      out.write(if (i == 1) s""", "$name": [""" else ", ")
      out.write(element(i))
      if (i == count) out.write("]")
    }
    out.write(
      s"""{"format-version": 2, "table-uuid": "6b0e1d9c-2f5d-4a0e-9c53-2f3a4b5c6d7e", "location": "$location",
         |"last-sequence-number": $count, "last-updated-ms": ${1000L * count}, "last-column-id": 1,
         |"current-schema-id": 0, "schemas": [{"type": "struct", "schema-id": 0,
         |"fields": [{"id": 1, "name": "id", "required": true, "type": "int"}]}],
         |"default-spec-id": 0, "partition-specs": [{"spec-id": 0, "fields": []}], "last-partition-id": 999,
         |"default-sort-order-id": 0, "sort-orders": [{"order-id": 0, "fields": []}], "properties": {},
         |"current-snapshot-id": $count, "refs": {"main": {"snapshot-id": $count, "type": "branch"}}""".stripMargin
    )
    writeAll("snapshots") { i =>
      val parent = if (i == 1) "" else s""""parent-snapshot-id": ${i - 1}, """
      s"""{"snapshot-id": $i, $parent"sequence-number": $i, "timestamp-ms": ${1000L * i}, "schema-id": 0,
         |"summary": ${summary(kindOf(i))}, "manifest-list": "$location/metadata/list-$i.avro"}""".stripMargin
    }
    writeAll("snapshot-log")(i => s"""{"timestamp-ms": ${1000L * i}, "snapshot-id": $i}""")
    out.write("}")
  }
}
