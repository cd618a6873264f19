package iceberglite.storage

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, ObjectInputStream, ObjectOutputStream}

import scala.collection.JavaConverters._

import org.apache.hadoop.conf.Configuration
import org.scalatest.funsuite.AnyFunSuite

class SerializableConfigurationSuite extends AnyFunSuite {

  private def reserialized(configuration: Configuration): SerializableConfiguration = {
    val bytes = new ByteArrayOutputStream
    val out = new ObjectOutputStream(bytes)
    out.writeObject(new SerializableConfiguration(configuration))
    out.close()
    new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray)).readObject()
      .asInstanceOf[SerializableConfiguration]
  }

  private def newConfiguration(values: (String, String)*): Configuration = {
    val configuration = new Configuration
    values.foreach { case (key, value) => configuration.set(key, value) }
    configuration
  }

  test("a deserialized configuration has every value, including defaults and variables") {
    val configuration =
      newConfiguration("my.key" -> "värld", "my.home" -> "/home/x", "my.path" -> ("$" + "{my.home}/y"), "empty" -> "")
    val copy = reserialized(configuration).value
    val keys = configuration.asScala.map(_.getKey).toSet
    assert(keys.size > 100 && copy.asScala.map(_.getKey).toSet == keys)
    keys.foreach(key => assert(copy.getRaw(key) == configuration.getRaw(key), key))
    assert(copy.get("my.path") == "/home/x/y")
  }

  test("deserializing equal configurations returns the same object, and different configurations different objects") {
    assert(reserialized(newConfiguration("a" -> "1")).value eq reserialized(newConfiguration("a" -> "1")).value)
    assert(reserialized(newConfiguration("a" -> "2")).value.get("a") == "2")
    assert(reserialized(newConfiguration("a" -> "1")).value.get("a") == "1")
    (1 to 50).foreach(i => assert(reserialized(newConfiguration("a" -> i.toString)).value.get("a") == i.toString))
  }

  test("a deserialized configuration can be serialized again") {
    assert(reserialized(reserialized(newConfiguration("a" -> "1")).value).value.get("a") == "1")
  }
}
