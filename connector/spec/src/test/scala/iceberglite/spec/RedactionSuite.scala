package iceberglite.spec

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.IcebergError.{InvalidArgument, StorageFailed}

class RedactionSuite extends AnyFunSuite {

  test("passwords, tokens and keys in URLs are hidden, and other parts of the text are kept") {
    val shown = Seq(
      "jdbc:postgresql://u:p@h/db?user=u&password=p&ssl=true" ->
        "jdbc:postgresql://u:***@h/db?user=u&password=***&ssl=true",
      "at http://id:a:b@[::1]:80/x, then" -> "at http://id:***@[::1]:80/x, then",
      "s3://b/x?X-Amz-Signature=ab&X-Amz-Date=c" -> "s3://b/x?X-Amz-Signature=***&X-Amz-Date=c",
      "abfss://c@a/x?sv=1&sig=a%2Fb&se=2, design=x" -> "abfss://c@a/x?sv=1&sig=***&se=2, design=x",
      "https://h/x?sig=a&design=b" -> "https://h/x?sig=***&design=b",
      "jdbc:x://h;PassWord=p;a=b" -> "jdbc:x://h;PassWord=***;a=b",
      "?session_token=t&Access-Key-Id=i" -> "?session_token=***&Access-Key-Id=***"
    )
    shown.foreach { case (text, expected) => assert(Redaction(text) == expected) }
  }

  test("text without secrets is unchanged") {
    Seq(
      "s3://b/token=abc/secret=x/f.parquet",
      "hdfs://nn:8020/a@b/c",
      "password = x",
      "http://host:80/?a=b",
      "Expected a = b; found c",
      ""
    ).foreach(text => assert(Redaction(text) == text))
  }

  test("error messages contain no secrets") {
    val url = "http://u:hush@h/?token=hush"
    val errors = Seq(InvalidArgument("uri", url, "No"), StorageFailed("connect to", Place.Server(url), "No"))
    errors.foreach(e => assert(!e.getMessage.contains("hush") && !e.toString.contains("hush")))
  }

  /** Counts how often characters are read. A character that is read twice is counted twice. */
  final private class CountedText(text: String) extends CharSequence {
    var reads = 0L

    override def length: Int = text.length
    override def charAt(index: Int): Char = {
      reads += 1
      text.charAt(index)
    }
    override def subSequence(start: Int, end: Int): CharSequence = text.subSequence(start, end)
    override def toString: String = text
  }

  test("each character of a long text is read fewer than 40 times on average") {
    val size = 2000
    val texts = Seq("a", "?", "=", ":", "://", "://a:", "token", "token=", "?token", "?token=", "&access-key", "?a=b")
      .flatMap(part => Seq("", "://", "?", "://u:").flatMap(start => Seq("", "=", "@").map(start + part * size + _)))
    for (text <- texts; (secret, replacement) <- Redaction.secrets) {
      val counted = new CountedText(text)
      assert(secret.replaceAllIn(counted, replacement) == secret.replaceAllIn(text, replacement))
      assert(counted.reads < 40L * (text.length + 10), s"${text.take(20)}...${text.takeRight(5)}")
    }
    val long = "://" + "a" * 200000 + "?" * 200000 + "=" * 10
    assert(Redaction(long) == long)
  }
}
