package iceberglite.spec.json

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.conformance.JsonRules
import iceberglite.spec.IcebergError.InvalidMetadata

class JsonValueSuite extends AnyFunSuite {

  private def parse(json: String): JsonValue = JsonValue.parse("f.json", json)

  private def rejection(read: => Any): InvalidMetadata = intercept[InvalidMetadata](read)

  test("a duplicate key is rejected in small and large objects", JsonRules.strict) {
    assert(rejection(parse("""{"a":1,"b":{"a":1},"a":2}""")).reason.contains("The key a occurs twice"))
    val many = (0 until 100).map(i => s""""k$i":$i""").mkString(",")
    assert(parse(s"{$many}").int("k99") == 99)
    assert(rejection(parse(s"""{$many,"k50":1}""")).reason.contains("The key k50 occurs twice"))
  }

  test("numbers are exact: a number that does not fit is rejected and never expanded", JsonRules.strict) {
    val json =
      parse("""{"l":9223372036854775807,"m":9223372036854775808,"e":1e3,"f":1.5,"h":1e999999999,"i":2147483648}""")
    assert(json.long("l") == Long.MaxValue)
    Seq("m", "e", "f", "h").foreach(key => assert(rejection(json.long(key)).path == s"$$.$key"))
    assert(rejection(json.int("i")).reason == "Expected an int, found 2147483648")
    assert(json("f").double == 1.5 && json("e").double == 1000 && json("l").double == Long.MaxValue.toDouble)
    assert(rejection(json("h").double).reason.contains("1e999999999"))
    assert(rejection(parse("1" * 100000)).reason.contains("JSON"))
    assert(rejection(parse("0x10")).path == "$")
  }

  test("a missing or null value is reported with its JSON path", JsonRules.strict, JsonRules.unknownKeys) {
    val json = parse("""{"a":[{"b c":null,"":[1]}]}""")
    val inner = json("a").elements.head
    assert(inner.optional("b c").isEmpty && !inner.has("b c") && inner.optionalInt("b c").isEmpty)
    assert(rejection(inner("b c")).path == "$.a[0]")
    assert(rejection(inner.string("b c")).reason == "The key b c is missing")
    assert(rejection(inner("").elements.head.string).path == "$.a[0][''][0]")
    assert(rejection(inner("").elements.head("x")).reason == "Expected an object, found 1")
  }

  test("an error message shows the wrong value, abbreviated if it is long", JsonRules.strict) {
    val reason = rejection(parse("[" + "\"" + "x" * 5000 + "\"]").long).reason
    assert(reason.length < 100 && reason.startsWith("Expected a long, found [\"xxx"))
    assert(rejection(parse("""{"a":[1,true,null,"x",2.5]}""").string).reason ==
      """Expected a string, found {"a":[1,true,null,"x",2.5]}""")
  }

  test("a value is written in the form in which it was read", JsonRules.roundTrip) {
    val json = """{"a":[1,2.50,1e9,true,false,null,"\nsnø"],"b":{},"c":[]}"""
    assert(parse(json).json == json)
    assert(parse("[1, 2.50, 1e9]").json == "[1,2.50,1e9]")
  }

  test("an object of strings is equal to a standard map with the same entries", JsonRules.strict) {
    val json = parse("""{"s":{"b":"1","a":"2"},"t":{"a":1}}""")
    val map = json.stringsOf("s")
    assert(map == Map("a" -> "2", "b" -> "1") && map.hashCode == Map("a" -> "2", "b" -> "1").hashCode)
    assert(map.get("c").isEmpty && map.size == 2 && map.keySet == Set("a", "b"))
    assert(map + ("c" -> "3") == Map("a" -> "2", "b" -> "1", "c" -> "3") && map - "a" == Map("b" -> "1"))
    assert(map + ("a" -> "3") == Map("a" -> "3", "b" -> "1"))
    assert(rejection(json.stringsOf("t")).path == "$.t.a")
    assert(json.stringsOf("none").isEmpty)
  }
}
