package iceberglite.spec

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.IcebergError.{InvalidArgument, StorageFailed}

class RedactionSuite extends AnyFunSuite {

  test("passwords in URLs are hidden and the rest of the text is kept") {
    val shown = Seq(
      "jdbc:postgresql://u:p@h/db?user=u&password=p&ssl=true" -> "jdbc:postgresql://u:***@h/db?user=u&password=***&ssl=true",
      "at http://id:a:b@[::1]:80/x, then" -> "at http://id:***@[::1]:80/x, then",
      "s3://b/x?X-Amz-Signature=ab&X-Amz-Date=c" -> "s3://b/x?X-Amz-Signature=***&X-Amz-Date=c",
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

  test("error messages contain no secrets, and redacting a long text is fast") {
    val url = "http://u:hush@h/?token=hush"
    val errors = Seq(InvalidArgument("uri", url, "No"), StorageFailed("connect", url, "No"))
    errors.foreach(e => assert(!e.getMessage.contains("hush") && !e.toString.contains("hush")))
    val long = "://" + "a" * 200000 + "?" * 200000 + "=" * 10
    assert(Redaction(long) == long)
  }
}
