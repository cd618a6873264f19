package iceberglite.spec.json

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, ObjectInputStream, ObjectOutputStream}
import java.nio.charset.StandardCharsets.UTF_8

import scala.util.Random

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import iceberglite.{Fuzz, MoreRoundsInSlowTierTag}
import iceberglite.conformance.JsonRules
import iceberglite.spec.{IcebergError, SampleTables}
import iceberglite.spec.FormatVersion.{V1, V2, V3}
import iceberglite.spec.metadata.{Snapshot, SnapshotWithJson, TableMetadata}

/** Checks that the fast path for snapshots returns the same result as the JSON parser. */
class FastSnapshotsSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  private val tables = Seq(V1, V2, V3).map(SampleTables.withHistory)
  private val documents = tables.map(m => new String(TableMetadataJson.write(m), UTF_8)).toIndexedSeq

  /** Whether the fast path reads the snapshots of the JSON. */
  private def isPlain(json: String): Boolean = FastSnapshots.of(json.getBytes(UTF_8)).isDefined

  private def outcome(read: => TableMetadata): Either[String, TableMetadata] =
    try Right(read)
    catch { case e: IcebergError => Left(e.toString) }

  /** The result of reading the JSON, by the fast path if it can read the snapshots. */
  private def fast(json: Array[Byte]) = outcome(TableMetadataJson.read("f.json", json))

  /** The result of the parser alone. */
  private def whole(json: Array[Byte]) = outcome(TableMetadataJson.parse("f.json", json))

  private def text(m: TableMetadata): String = new String(TableMetadataJson.write(m), UTF_8)

  private def afterCommit(m: TableMetadata): TableMetadata =
    SampleTables.commit(m, 4, SampleTables.CreatedMs + 9000)

  test("metadata that iceberg-lite writes is read by the fast path, also after another tool has indented it") {
    documents.foreach { json =>
      assert(isPlain(json))
      val mapper = new ObjectMapper
      val indented = mapper.writerWithDefaultPrettyPrinter.writeValueAsString(mapper.readTree(json))
      assert(isPlain(indented) && fast(indented.getBytes(UTF_8)) == whole(json.getBytes(UTF_8)))
    }
  }

  test("the fast path and the parser read the same metadata", JsonRules.roundTrip) {
    forAll(MetadataGenerators.table) { m =>
      val json = TableMetadataJson.write(m)
      assert(fast(json) == Right(m) && whole(json) == Right(m))
    }
  }

  test(
    "the fast path and the parser return the same metadata or the same error for damaged input",
    JsonRules.hostile,
    MoreRoundsInSlowTierTag
  ) {
    def same(json: Array[Byte]): Unit = {
      val (left, right) = (fast(json), whole(json))
      assert(left == right, new String(json, UTF_8))
      (left, right) match {
        case (Right(a), Right(b)) => assert(a.snapshots.map(_.summary.toVector) == b.snapshots.map(_.summary.toVector))
        case _ => ()
      }
    }
    Fuzz.json("tokens of a history", 700, documents)(json => same(json.getBytes(UTF_8)))
    Fuzz.bytes("bytes of a history", 700, documents.map(_.getBytes(UTF_8)))(same)
  }

  test("unusual JSON of snapshots gives the result of the parser, and the fast path reads no unusual snapshot") {
    val json = documents(1)
    Seq(
      """"summary":{""" -> """"summary":{"a":"1","a":"2",""",
      """"summary":{""" -> """"summary":{"a":1,""",
      """"summary":{""" -> """"summary":{"a":"caf\u00e9",""",
      """"summary":{""" -> """"summary":{"a":"é",""",
      """"snapshot-id":2,""" -> """"snapshot-id":2.0,""",
      """"snapshot-id":2,""" -> """"snapshot-id":2,"x":{},""",
      """"snapshot-id":2,""" -> """"snapshot-id":2,"snapshot-id":3,""",
      """"snapshot-id":2,""" -> """"snapshot-id":9223372036854775808,""",
      """"snapshot-id":2,""" -> """"snapshot-id":9999999999999999999,""",
      """"snapshot-id":2,""" -> """"snapshot-id":02,""",
      """"snapshots":""" -> """"snapshots":[],"snapshots":"""
    ).foreach { case (from, to) =>
      assert(json.contains(from))
      val changed = json.replaceFirst(java.util.regex.Pattern.quote(from), java.util.regex.Matcher.quoteReplacement(to))
      assert(fast(changed.getBytes(UTF_8)) == whole(changed.getBytes(UTF_8)), to)
      if (to.startsWith("\"summary") || to.startsWith("\"snapshot-id")) assert(!isPlain(changed), to)
    }
  }

  test("numbers up to the maximum long are read by the fast path") {
    Seq(Long.MaxValue, 1000000000000000000L, 9L, 0L, -1L, -Long.MaxValue).foreach { n =>
      val json = documents(1).replaceFirst(""""parent-snapshot-id":1,""", s""""parent-snapshot-id":$n,""")
      assert(isPlain(json) && fast(json.getBytes(UTF_8)) == whole(json.getBytes(UTF_8)))
      assert(fast(json.getBytes(UTF_8)).right.exists(_.snapshots(1).parentSnapshotId.contains(n)))
    }
  }

  test("brackets and braces inside the values of a summary do not end the summary") {
    val odd =
      tables(1).snapshots.head.copy(snapshotId = 77, summary = Map("operation" -> "]}[{", "b" -> "},{", "c" -> ","))
    val m = tables(1).copy(snapshots = tables(1).snapshots :+ odd)
    assert(isPlain(text(m)) && fast(text(m).getBytes(UTF_8)) == Right(m))
  }

  test(
    "the JSON of unchanged snapshots is copied to the next metadata file, and changed snapshots are serialized again"
  ) {
    tables.foreach { m =>
      val read = TableMetadataJson.read("f.json", TableMetadataJson.write(m))
      assert(text(afterCommit(read)) == text(afterCommit(m)))
      val renamed = read.copy(snapshots = read.snapshots.map(s => s.copy(summary = s.summary + ("who" -> "me"))))
      assert(text(renamed).split("\"who\":\"me\"", -1).length == m.snapshots.size + 1)
    }
  }

  test("snapshots that were read from indented JSON are written in compact form") {
    val mapper = new ObjectMapper
    documents.zip(tables).foreach { case (json, m) =>
      val indented = mapper.writerWithDefaultPrettyPrinter.writeValueAsString(mapper.readTree(json))
      assert(text(TableMetadataJson.read("f.json", indented)) == text(m))
    }
  }

  test("the JSON of a table is the same as text and as bytes, regardless of which is written first") {
    val mapper = new ObjectMapper
    def textOf(m: TableMetadata): JsonNode = mapper.readTree(TableMetadataJson.toJson(m))
    def bytesOf(m: TableMetadata): JsonNode = mapper.readTree(TableMetadataJson.write(m))
    forAll(MetadataGenerators.table) { m =>
      // The copy has not been written before.
      val copy = m.copy()
      val (asText, asBytes) = (textOf(m), bytesOf(copy))
      assert(asText == asBytes && bytesOf(m) == asText && textOf(copy) == asText)
    }
  }

  test("a snapshot is found by its id") {
    val random = new Random(Fuzz.seed)
    val snapshots = Vector.tabulate(50)(i => tables(1).snapshots.head.copy(snapshotId = i * 3L))
    val m = tables(1).copy(snapshots = snapshots)
    (0 until 200).foreach { _ =>
      val id = random.nextInt(160).toLong
      val expected = snapshots.find(_.snapshotId == id)
      assert(m.findSnapshot(id) == expected && m.snapshotsById.get(id) == expected)
      assert(m.hasSnapshot(id) == expected.isDefined)
    }
    assert(m.snapshotsById == snapshots.map(s => s.snapshotId -> s).toMap)
  }

  test("the JSON of snapshots is ignored in comparisons, and is not part of Java serialization") {
    tables.foreach { m =>
      val withJson = TableMetadataJson.withSnapshotJson(m)
      assert(withJson == m && m == withJson && withJson.hashCode == m.hashCode && text(withJson) == text(m))
      assert(withJson.snapshots.forall(_.isInstanceOf[SnapshotWithJson]))
      val read = TableMetadataJson.read("f.json", TableMetadataJson.write(m))
      assert(read.snapshots.forall(_.isInstanceOf[SnapshotWithJson]))
      val received = read.snapshots.map(serialized)
      assert(received == m.snapshots && !received.exists(_.isInstanceOf[SnapshotWithJson]))
    }
  }

  test("the ancestors of a snapshot are found in any order of the snapshots") {
    val random = new Random(Fuzz.seed)
    val chain = Vector.tabulate(50)(i =>
      tables(1).snapshots.head.copy(snapshotId = i + 1L, parentSnapshotId = Some(i.toLong))
    )
    Seq(chain, chain.reverse, random.shuffle(chain)).foreach { snapshots =>
      val m = tables(1).copy(snapshots = snapshots)
      assert(m.ancestors(m.snapshot(50)).map(_.snapshotId).toVector == (50L to 1L by -1).toVector)
    }
  }

  private def serialized(snapshot: Snapshot): Snapshot = {
    val bytes = new ByteArrayOutputStream
    val out = new ObjectOutputStream(bytes)
    out.writeObject(snapshot)
    out.close()
    new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray)).readObject().asInstanceOf[Snapshot]
  }
}
