package iceberglite.servers

import java.net.Socket
import java.sql.DriverManager

import org.scalatest.funsuite.AnyFunSuite

class ServersSuite extends AnyFunSuite {

  test("PostgreSQL gives each caller an empty database") {
    val databases = Vector.fill(2)(Servers.postgres.newDatabase())
    assert(databases.map(_.url).distinct.size == 2)
    databases.foreach { database =>
      val connection = DriverManager.getConnection(database.url, database.user, database.password)
      try assert(!connection.getMetaData.getTables(null, "public", "%", Array("TABLE")).next())
      finally connection.close()
    }
  }

  test("the Hive Metastore accepts connections") {
    val uri = java.net.URI.create(Servers.hive.uri)
    new Socket(uri.getHost, uri.getPort).close()
  }

  test("the REST catalog and the S3 store respond") {
    assert(scala.io.Source.fromURL(s"${Servers.rest.uri}/v1/config").mkString.contains("defaults"))
    assert(Servers.s3.newBucket() != Servers.s3.newBucket())
  }
}
