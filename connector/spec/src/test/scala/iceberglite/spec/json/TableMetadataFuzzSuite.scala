package iceberglite.spec.json

import java.nio.charset.StandardCharsets.UTF_8

import org.scalacheck.Gen
import org.scalatest.funsuite.AnyFunSuite
import org.scalatestplus.scalacheck.ScalaCheckPropertyChecks

import iceberglite.spec.IcebergError

/** Damaged metadata gives metadata or an `IcebergError`, and nothing else. */
class TableMetadataFuzzSuite extends AnyFunSuite with ScalaCheckPropertyChecks {
  implicit override val generatorDrivenConfig: PropertyCheckConfiguration =
    PropertyCheckConfiguration(minSuccessful = 400)

  private val valid: Gen[String] = MetadataGenerators.table.map(m => new String(TableMetadataJson.write(m), UTF_8))

  private val Token = """"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?|true|false|null|[\[\]{}:,]""".r

  private val junk: Gen[String] = Gen.oneOf(
    "null",
    "true",
    "-1",
    "0",
    "9223372036854775808",
    "99999999999",
    "1.5",
    "1e400",
    "\"\"",
    "\"x\"",
    "\"-1\"",
    "\"bucket[0]\"",
    "\"bucket[99999999999]\"",
    "\"decimal(99,99)\"",
    "\"fixed[99999999999]\"",
    "\"struct\"",
    "\"\\ud800\"",
    "{}",
    "[]",
    "[[]]",
    "{",
    "]",
    ",",
    "NaN",
    "1" * 2000
  )

  private def readable(json: Array[Byte]): Boolean =
    try { TableMetadataJson.read("f.json", json); true }
    catch { case _: IcebergError => false }

  test("a file cut short anywhere is refused") {
    val cut = for (json <- valid; at <- Gen.choose(0, json.length - 1)) yield json.take(at)
    forAll(cut)(json => assert(!readable(json.getBytes(UTF_8))))
  }

  test("a file with tokens replaced lets no other error out") {
    val mutated =
      for {
        json <- valid
        tokens = Token.findAllMatchIn(json).toVector
        count <- Gen.choose(1, 3)
        places <- Gen.listOfN(count, Gen.oneOf(tokens))
        values <- Gen.listOfN(count, junk)
      } yield places.zip(values).sortBy(-_._1.start).foldLeft(json) { case (text, (place, value)) =>
        text.take(place.start) + value + text.drop(place.end)
      }
    forAll(mutated) { json =>
      readable(json.getBytes(UTF_8))
      succeed
    }
  }

  test("a file with bytes flipped lets no other error out") {
    val flipped = for {
      json <- valid
      bytes = json.getBytes(UTF_8)
      places <- Gen.choose(1, 5).flatMap(Gen.listOfN(_, Gen.choose(0, bytes.length - 1)))
      values <- Gen.listOfN(places.size, Gen.choose(-128, 127))
    } yield places.zip(values).foldLeft(bytes)((b, change) => b.updated(change._1, change._2.toByte))
    forAll(flipped) { bytes =>
      readable(bytes)
      succeed
    }
  }

  test("random bytes and deep nesting are refused") {
    forAll(Gen.containerOf[Array, Byte](Gen.choose(-128, 127).map(_.toByte)))(bytes => assert(!readable(bytes)))
    Seq("[" * 100000, """{"schemas":""" * 100000).foreach(json => assert(!readable(json.getBytes(UTF_8))))
  }

  test("the deepest type that the parser lets in is read or refused without an overflow") {
    val list = """{"type":"list","element-id":1,"element-required":true,"element":"""
    val json = list * 900 + "\"int\"" + "}" * 900
    intercept[IcebergError](SchemaJson.parse("f", s"""{"fields":[{"id":1,"name":"a","required":true,"type":$json}]}"""))
  }
}
