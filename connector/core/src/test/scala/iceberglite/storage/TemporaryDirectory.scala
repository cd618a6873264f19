package iceberglite.storage

import java.nio.file.{Files, Path}

import org.scalatest.{BeforeAndAfterEach, Suite}

/** Creates a directory for each test, and deletes it afterwards. */
trait TemporaryDirectory extends BeforeAndAfterEach { self: Suite =>
  private var current = Option.empty[Path]

  protected def directory: Path = current.getOrElse(fail("The directory exists only while a test runs"))

  override protected def beforeEach(): Unit = {
    super.beforeEach()
    current = Some(Files.createTempDirectory("iceberg-lite"))
  }

  override protected def afterEach(): Unit =
    try current.foreach(LocalFiles.deleteDirectory)
    finally super.afterEach()
}
